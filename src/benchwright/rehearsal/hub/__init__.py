"""A Hub emulator, for rehearsals and tests with the real client. It is not the Hub.

A route, a query word or a word of a body that it has not learned is answered with 501 and named in ``unknown``.
"""

from benchwright.rehearsal.hub.emulator import HubEmulator
from benchwright.rehearsal.hub.faults import EVERY_FAULT, Fault, FaultRule, RandomFaults, RuledFaults
from benchwright.rehearsal.hub.limits import Limit
from benchwright.rehearsal.hub.records import Discussion, Repo, Rights
from benchwright.rehearsal.hub.wire import Request

__all__ = [
    "EVERY_FAULT",
    "Discussion",
    "Fault",
    "FaultRule",
    "HubEmulator",
    "Limit",
    "RandomFaults",
    "Repo",
    "Request",
    "Rights",
    "RuledFaults",
]
