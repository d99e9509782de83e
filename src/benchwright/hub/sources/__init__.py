"""Source checks: whether a cited page prints a result's number, where, and what about it a person has to judge."""

from benchwright.hub.sources.check import SourceCheck, check_result, check_spec
from benchwright.hub.sources.find import Miss, Place, find
from benchwright.hub.sources.origin import names_figure_or_control
from benchwright.hub.sources.questions import Question
from benchwright.hub.sources.reading import Document, Reading, Sources
from benchwright.hub.sources.snapshots import Snapshots

__all__ = [
    "Document",
    "Miss",
    "Place",
    "Question",
    "Reading",
    "Snapshots",
    "SourceCheck",
    "Sources",
    "check_result",
    "check_spec",
    "find",
    "names_figure_or_control",
]
