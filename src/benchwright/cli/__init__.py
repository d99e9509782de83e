"""The script shell: parser, printing, progress and hand-off sheets. Scripts import it; no other package does."""

from benchwright.cli.handoff import Handoff
from benchwright.cli.parser import ScriptParser
from benchwright.cli.shell import Shell, run_script

__all__ = ["Handoff", "ScriptParser", "Shell", "run_script"]
