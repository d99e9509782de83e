#!/usr/bin/env python3
"""Inspect the raw results below PATH, compare them with a method's declaration, and process them into its artifact.

Prints what the results imply: type, key, device, configs, default, validation protocol (as the children of each result
show it), coverage, and a declaration to paste. With --method-metadata MODULE:ATTR the declaration is compared field by
field; only error rows fail. --process then writes the artifact folder into the cache, if all checks pass. Methods in
one folder are told apart by their exact names. No code of a result is run, and no network is used.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

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

from benchwright.cli import ScriptParser, Shell, run_script
from benchwright.contract import Exit, Failure, Outcome, Problem

if TYPE_CHECKING:
    from benchwright.arena import MethodMetadata
    from benchwright.raw import Found, Inspection

SCRIPTS = Path(__file__).resolve().parent
SCREEN = 35
"""Lines that a person is shown beside a summary and the next command."""
LEAST = 14
"""Lines of facts that problems leave in any case: the comparison fits."""


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__)
    add = parser.add_argument
    add("path", type=Path, metavar="PATH", help="a run's folder, its data folder, or one of its methods' folders")
    add("--method-metadata", metavar="MODULE:ATTR", help="the method's declaration, to compare with and process by")
    add("--repo", type=Path, metavar="DIR", help="the checkout that declares it (default: this folder, then installed)")
    add("--method", metavar="NAME", help="inspect the method of exactly this name alone")
    add("--expect-validation-protocol", choices=("tabarena", "beyondarena"), help="fail unless all results have it")
    add("--ignore-metadata-mismatch", action="store_true", help="accept every difference that can be processed")
    add("--accept-mismatch", action="append", default=[], metavar="FIELD", help="accept this one; repeatable")
    process = parser.add_argument_group("processing")
    add = process.add_argument
    on_off: Any = argparse.BooleanOptionalAction
    add("--process", action="store_true", help="build the artifact, once all checks pass")
    add("--no-inspect", action="store_true", help="with --process: check as ever, print the outcome alone")
    add("--cache-raw", action=on_off, default=True, help="copy the raw results into the artifact (default: yes)")
    add("--cache-hpo-trajectories", action=on_off, default=True, help="simulate tuning over time (default: yes)")
    add("--backend", choices=("local", "ray"), default="local", help="where splits are worked on (default: local)")
    add("--jobs", type=int, metavar="N", help="splits at a time (default: as many as there are processors)")
    add("--cache-root", type=Path, metavar="DIR", help="default: $TABARENA_CACHE, or else ~/.cache/tabarena")
    return parser


def run_process_method(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Inspect; with ``--process`` and nothing against it, build the artifact."""
    metadata, found = prepared(args)
    judged, others = inspected(args, metadata, found, shell)
    if metadata is None or not args.process or judged[0].refused:
        return report(args, judged, others, found.problems)
    return processed(args, metadata, judged[0], found.problems, shell)


def prepared(args: argparse.Namespace) -> tuple[MethodMetadata | None, Found]:
    """The declaration, if one is named, and the tree's files; all that is wrong with the command line at once."""
    from benchwright.raw import find_results
    from benchwright.raw.comparison import check_accepted

    failures: list[Failure] = []

    def attempt(step: Callable[..., Any], *values: Any) -> Any:
        try:
            return step(*values)
        except Failure as failure:
            failures.append(failure)
            return None

    attempt(check_options, args)
    attempt(check_accepted, args.accept_mismatch)
    metadata = attempt(declaration, args) if args.method_metadata else None
    found = attempt(find_results, args.path)
    if failures:
        problems = [problem for failure in failures for problem in failure.problems]
        raise Failure(problems, exit=max(failure.exit for failure in failures))
    if not found.files:
        raise Failure(found.problems)
    return metadata, found


def declaration(args: argparse.Namespace) -> MethodMetadata:
    """The method that ``--method-metadata`` names."""
    from benchwright.publish import load_method

    return load_method(args.method_metadata, args.repo)


def protocol_declarable(args: argparse.Namespace) -> bool:
    """Whether the declaration could name a validation protocol."""
    from benchwright.publish import can_declare

    return can_declare("validation_protocol", args.method_metadata, args.repo)


def check_options(args: argparse.Namespace) -> None:
    """Refuse options that mean nothing together."""
    problems = []
    if args.process and not args.method_metadata:
        fix = "run it without --process: the declaration that it prints is a start"
        problems.append(Problem("usage", "--process", "no declaration", "--method-metadata MODULE:ATTR", fix))
    if args.no_inspect and not args.process:
        problems.append(Problem("usage", "--no-inspect", "nothing is left to do", "--process with it"))
    if args.jobs is not None and args.jobs < 1:
        problems.append(Problem("usage", "--jobs", str(args.jobs), "a number from 1"))
    if problems:
        raise Failure(problems, exit=Exit.USAGE)


def inspected(
    args: argparse.Namespace, metadata: MethodMetadata | None, found: Found, shell: Shell
) -> tuple[list[Inspection], list[Inspection]]:
    """The methods that the exit code is about, inspected, and those that are listed beside a declared one."""
    from benchwright.raw import inspect, method_declared, method_named, read_declared, read_methods

    with shell.progress("results read") as progress:
        if args.method:
            methods = read_methods(found.files, only=[args.method], progress=progress)
            judged = [method_named(args.method, methods, found.files)]
        elif metadata is not None and args.process:
            judged = [read_declared(found.files, metadata, progress=progress)]
            methods = {judged[0].name: judged[0]}
        else:
            methods = read_methods(found.files, progress=progress)
            judged = list(methods.values()) if metadata is None else [method_declared(metadata, methods)]
    options = {
        "accept": args.accept_mismatch,
        "accept_all": args.ignore_metadata_mismatch,
        "protocol_declarable": metadata is None or protocol_declarable(args),
        "expected": args.expect_validation_protocol,
    }
    return (
        [inspect(method, metadata, **options) for method in judged],
        [inspect(method) for method in methods.values() if method not in judged],
    )


def report(
    args: argparse.Namespace, judged: Sequence[Inspection], others: Sequence[Inspection], tree: Sequence[Problem]
) -> Outcome:
    """What inspection found, and what to do next."""
    from benchwright.raw.inspection_text import details, summary

    problems = [*(problem for each in judged for problem in speaking_against(args, each)), *tree]
    problems += [problem for each in others for problem in each.unusable]
    problems += [problem for each in judged for problem in each.doubtful]
    declared_as = args.method_metadata or ""
    return Outcome(
        summary=summary(judged, others, declared_as) + ("; nothing written" if args.process else ""),
        data={"methods": [each.to_dict() for each in (*judged, *others)], "artifact": None},
        details=[] if args.no_inspect else details(judged, others, declared_as, room(args, problems)),
        problems=problems,
        next=commands(args, judged) if judged[0].compared else (),
        exit=Exit.DONE if not tree and all(each.clean for each in judged) else Exit.NO,
    )


def room(args: argparse.Namespace, problems: Sequence[Problem]) -> int | None:
    """How many lines of facts a person can be shown beside the problems; None where all go to a file."""
    if args.out is not None:
        return None
    return max(LEAST, SCREEN - sum(str(problem).count("\n") + 1 for problem in problems))


def speaking_against(args: argparse.Namespace, inspection: Inspection) -> list[Problem]:
    """What keeps a method from being processed, the gravest first, and what is lost of it."""
    unofficial = [] if inspection.unofficial is None else [inspection.unofficial]
    return [*differences(args, inspection), *unofficial, *inspection.inconsistent, *inspection.unusable]


def differences(args: argparse.Namespace, inspection: Inspection) -> list[Problem]:
    """What the comparison warns of and what fails, that first, with the edit that mends it."""
    rows = [row for row in inspection.compared if row.match != "yes" and row.severity != "context"]
    return [
        row.problem(args.method_metadata, edit_command(args, [row.correction], "--apply") if row.correction else "")
        for row in sorted(rows, key=lambda row: not row.fails)
    ]


def commands(args: argparse.Namespace, judged: Sequence[Inspection]) -> list[str]:
    """What to run next: the edit of the declaration, shown but not applied, or the processing."""
    corrections = [row.correction for each in judged for row in each.compared if row.correction]
    if corrections:
        return [edit_command(args, corrections)]
    if any(each.refused for each in judged):
        return []
    accepted = [word for field in args.accept_mismatch for word in ("--accept-mismatch", field)]
    options = {
        "--method": args.method,
        "--expect-validation-protocol": args.expect_validation_protocol,
        "--cache-root": args.cache_root and args.cache_root.absolute(),
    }
    accepted += ["--ignore-metadata-mismatch"] if args.ignore_metadata_mismatch else []
    given = [word for option, value in options.items() if value for word in (option, str(value))]
    return [command("run_process_method.py", args, str(args.path.absolute()), *accepted, *given, "--process")]


def edit_command(args: argparse.Namespace, corrections: Sequence[str], *options: str) -> str:
    """The command that brings these corrections to the declaration."""
    changes = [word for correction in corrections for word in ("--set", correction)]
    words = [args.method_metadata, *changes, *repository(args), *options]
    return shlex.join([sys.executable, str(SCRIPTS / "set_method_info.py"), *words])


def command(script: str, args: argparse.Namespace, *words: str) -> str:
    """A command of another script for the same declaration."""
    declared = ("--method-metadata", args.method_metadata, *repository(args))
    return shlex.join([sys.executable, str(SCRIPTS / script), *words, *declared])


def repository(args: argparse.Namespace) -> tuple[str, ...]:
    """The option that names the checkout, if one was named."""
    return () if args.repo is None else ("--repo", str(args.repo.absolute()))


def processed(
    args: argparse.Namespace,
    metadata: MethodMetadata,
    inspection: Inspection,
    tree: Sequence[Problem],
    shell: Shell,
) -> Outcome:
    """The artifact, built, and the command that shows its upload."""
    from benchwright.bridge import task_rows
    from benchwright.processing import build_artifact
    from benchwright.raw.inspection_text import details

    datasets = {result.dataset for result in inspection.method.results}
    with shell.progress("splits processed") as progress:
        artifact = build_artifact(
            inspection.method.files,
            metadata,
            cache_root=args.cache_root,
            task_rows=task_rows(args.path, datasets),
            cache_raw=args.cache_raw,
            trajectories=args.cache_hpo_trajectories,
            jobs=args.jobs,
            backend=args.backend,
            progress=progress,
        )
    problems = [*differences(args, inspection), *tree, *(finding.problem() for finding in artifact.findings)]
    cache = () if args.cache_root is None else ("--cache-root", str(args.cache_root.absolute()))
    results = len(inspection.method.results)
    return Outcome(
        summary=f"{metadata.method}: {results} results processed into {artifact.folder}",
        data={
            "methods": [inspection.to_dict()],
            "artifact": {
                "folder": str(artifact.folder),
                "counts": dict(artifact.counts),
                "findings": [finding.to_dict() for finding in artifact.findings],
            },
        },
        details=[] if args.no_inspect else details([inspection], [], args.method_metadata, room(args, problems)),
        problems=problems,
        next=(command("run_upload_results.py", args, *cache),),
    )


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), run_process_method))
