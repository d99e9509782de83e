"""The script shell: parser, printing, progress, commands, hand-off sheets. Scripts import it; no other package does."""

import benchwright.cli.before  # noqa: F401  first: it is for a Ctrl-C during what follows
from benchwright.cli.commands import command, command_elsewhere, option, repeated
from benchwright.cli.handoff import Handoff
from benchwright.cli.parser import ScriptParser, moment, positive
from benchwright.cli.shell import Shell, run_script

__all__ = [
    "Handoff",
    "ScriptParser",
    "Shell",
    "command",
    "command_elsewhere",
    "moment",
    "option",
    "positive",
    "repeated",
    "run_script",
]
