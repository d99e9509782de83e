#!/usr/bin/env python3
"""Process, check and upload several methods: what a manifest lists, each step as soon as it can be.

MANIFEST is YAML or JSON: a list "methods" of {data: PATH, method_metadata: MODULE:ATTR}, each with, as needed, method,
repo, store, and options of the steps: expect_validation_protocol, accept_mismatch, ignore_metadata_mismatch,
accept_finding, cache_raw, cache_hpo_trajectories, backend and replace_raw of the processing, upload_raw and replace of
the upload; any of them at the top is the default of all. Paths are relative to the manifest. Each method goes through
run_process_method.py --process and the dry run of run_upload_results.py, with --apply through the upload too; up to 4
are uploaded while others are processed. One line a method says how it ended: DONE, FAILED with the first problem, LEFT
when the batch was stopped; STALLED tells of a step that writes nothing, AGAIN of finished work that was changed since.
A failed method stops no other. Leaves with 0 when all are done, else with the highest exit code of a failed step (a
crash counts as 1). Run again, it repeats only processing whose inputs or artifact changed.
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

from benchwright.cli import ScriptParser, Shell, command, option, positive, run_script
from benchwright.contract import Outcome


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__)
    parser.add_argument("manifest", type=Path, metavar="MANIFEST", help="the methods to publish")
    parser.add_argument("--apply", action="store_true", help="upload what the dry run finds right")
    add = parser.add_argument
    add("--jobs", type=positive(int), default=1, metavar="N", help="methods processed side by side (default: 1)")
    minutes = {"type": positive(float), "metavar": "MINUTES"}
    add("--stall", default=15.0, **minutes, help="tell of a step that is silent so long (default: 15)")
    add("--timeout", **minutes, help="end a step that is silent so long (default: never)")
    parser.add_cache_root()
    add("--logs", type=Path, metavar="DIR", help="default: beside the manifest, <its name>_logs")
    return parser


def publish_batch(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Read the manifest, run the batch."""
    from benchwright.publish.batch import BatchOptions, run_batch
    from benchwright.publish.batch_manifest import read_batch

    methods = read_batch(args.manifest)
    options = BatchOptions(
        scripts=Path(__file__).resolve().parent,
        logs=logs_of(args),
        apply=args.apply,
        jobs=args.jobs,
        stall=60 * args.stall,
        timeout=None if args.timeout is None else 60 * args.timeout,
        cache_root=args.cache_root and args.cache_root.absolute(),
    )
    return run_batch(methods, options, shell.tell).outcome(again(args))


def logs_of(args: argparse.Namespace) -> Path:
    """Where the steps' logs and answers go."""
    return (args.logs or args.manifest.with_name(f"{args.manifest.stem}_logs")).absolute()


def again(args: argparse.Namespace) -> str:
    """The command of this batch without ``--apply``, from any folder."""
    words = [
        *option("--logs", logs_of(args)),
        *option("--jobs", args.jobs),
        *option("--stall", f"{args.stall:g}"),
        *option("--timeout", args.timeout and f"{args.timeout:g}"),
        *option("--cache-root", args.cache_root),
    ]
    return command(__file__, args.manifest, *words)


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), publish_batch))
