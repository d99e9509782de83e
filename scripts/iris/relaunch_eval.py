#!/usr/bin/env python3
"""The command that launches an Iris eval once more under its name, so that Harbor goes on with it; and its check.

The command pins what the first launch may have missed: iris on the path, without which the launcher finds no region and
writes to another one's bucket, and two retries, since some fresh slices hang. Run it yourself; the launch's output is
kept, and --launch-log checks there that it says "Region pin: ... -> REGION". Nothing is launched here, and no
credentials are touched: a key among the words is named, env:NAME, and read by the shell that runs the command.

Settings, from the environment or a .env: BENCHWRIGHT_IRIS_REGION, the region that the bucket is in, such as us-east5;
BENCHWRIGHT_IRIS_LAUNCH, the launcher with its interpreter (default: python eval/cloud/launch_eval_iris.py);
BENCHWRIGHT_IRIS_BIN, the folder that the program iris is in, without which the command pins no region by itself.

Exit 1: the launch went to another region; 5: it does not say to which.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

try:
    import benchwright  # noqa: F401
except ModuleNotFoundError:
    for folder in Path(__file__).resolve().parents:
        if (folder / "src" / "benchwright").is_dir():
            sys.path.insert(0, str(folder / "src"))
            break
    else:
        print("benchwright is not installed; in its checkout: make setup", file=sys.stderr)
        raise SystemExit(3) from None

from benchwright.cli import ScriptParser, Shell, command, option, run_script
from benchwright.contract import Outcome


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__)
    add = parser.add_argument
    add("job", metavar="JOB", help="the job's name, as its folder in the bucket has it")
    add("--region", metavar="REGION", help="the region of the bucket (default: $BENCHWRIGHT_IRIS_REGION)")
    add("--launch-words", default="", metavar="WORDS", help="what else the first launch was given, as for a shell")
    add("--launch-log", type=Path, metavar="FILE", help="the launch's output: check the region that it says")
    return parser


def relaunch_eval(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Print the command, or check what a launch said."""
    from benchwright.objects import settings_from_environment
    from benchwright.repair.iris_relaunch import Relaunch, check_region, read_launch_log

    launch = Relaunch.asked_for(args.job, args.region, args.launch_words, settings_from_environment())
    data = {"job": launch.job, "region": launch.region, "command": launch.command, "log": launch.log}
    if args.launch_log:
        check_region(read_launch_log(args.launch_log), launch.region)
        return Outcome(f"{launch.job} is pinned to {launch.region}", data)
    check = command(__file__, launch.job, "--region", launch.region, *option("--launch-log", Path(launch.log)))
    notes = [launch.unpinned] if launch.unpinned else []
    summary = f"{launch.job}: the launch once more, for {launch.region}"
    return Outcome(summary, data | {"notes": notes}, details=notes, next=(launch.command, check))


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), relaunch_eval))
