#!/usr/bin/env python3
"""Inspect the raw results below PATH, compare them with a method's declaration, and process them into its artifact.

Prints what the results imply: type, key, device, configs, default, validation protocol (as the children of each result
show it), coverage, and a declaration to paste. With --method-metadata MODULE:ATTR the declaration is compared field by
field; only error rows fail. Several methods of one folder are told apart by their exact names, and each can be compared
with its own. --process then writes the artifact folder into the cache, if all checks pass. Results that are lost (a
file that cannot be used, a link, a dataset without any other) fail both: processed without them, the artifact is not
uploaded unless their codes are accepted. No code of a result is run, and no network is used.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from functools import partial
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

from benchwright.cli import ScriptParser, Shell, command, option, positive, repeated, run_script
from benchwright.contract import Exit, Failure, Failures, Outcome, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchwright.arena import MethodMetadata
    from benchwright.raw import Found
    from benchwright.raw.tree import Declared, TreeInspection

SCRIPTS = Path(__file__).resolve().parent


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__)
    add = parser.add_argument
    add("path", type=Path, metavar="PATH", help="a run's folder, its data folder, or one of its methods' folders")
    add(
        "--method-metadata",
        action="append",
        default=[],
        metavar="MODULE:ATTR",
        help="the method's declaration, to compare with and process by; repeatable without --process",
    )
    parser.add_repo("the checkout that declares it (default: this folder, then installed)")
    add("--method", metavar="NAME", help="inspect the method of exactly this name alone")
    add("--expect-validation-protocol", choices=("tabarena", "beyondarena"), help="fail unless all results have it")
    add("--ignore-metadata-mismatch", action="store_true", help="accept every difference that can be processed")
    add("--accept-mismatch", action="append", default=[], metavar="FIELD", help="accept this one; repeatable")
    add("--accept-finding", action="append", default=[], metavar="CODE", help="accept results lost so; repeatable")
    parser.add_cache_root()
    process = parser.add_argument_group("processing")
    add = process.add_argument
    on_off: Any = argparse.BooleanOptionalAction
    add("--process", action="store_true", help="build the artifact, once all checks pass")
    add("--no-inspect", action="store_true", help="with --process: check as ever, print the outcome alone")
    add("--cache-raw", action=on_off, default=True, help="copy the raw results into the artifact (default: yes)")
    add("--cache-hpo-trajectories", action=on_off, default=True, help="simulate tuning over time (default: yes)")
    add("--backend", choices=("local", "ray"), default="local", help="where splits are worked on (default: local)")
    add("--replace", action="store_true", help="let raw results of the artifact that is there be lost")
    add("--jobs", type=positive(int), metavar="N", help="splits at a time (default: as many as there are processors)")
    return parser


def run_process_method(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Inspect; with ``--process`` and nothing against it, build the artifact."""
    from benchwright.raw.tree import inspect_tree

    methods, found = prepared(args)
    with shell.progress("results read") as progress:
        tree = inspect_tree(
            found,
            methods,
            name=args.method,
            alone=args.process,
            accept=args.accept_mismatch,
            accept_all=args.ignore_metadata_mismatch,
            expected=args.expect_validation_protocol,
            progress=progress,
        )
    if args.process and not tree.refused:
        outcome = processed(args, methods[0].metadata, tree, shell)
    else:
        kept = kept_declarations(args, methods, tree)
        outcome = tree.outcome(
            partial(mend, args, kept),
            next_commands(args, tree, kept),
            accepted=args.accept_finding,
            whole=args.out is not None,
        )
        if args.process:
            outcome = replace(outcome, summary=f"{outcome.summary}; nothing written")
    return replace(outcome, details=()) if args.no_inspect else outcome


def prepared(args: argparse.Namespace) -> tuple[list[Declared], Found]:
    """The declarations that are named, and the tree's files."""
    from benchwright import publish
    from benchwright.raw import find_results
    from benchwright.raw.comparison import check_accepted
    from benchwright.raw.losses import check_codes
    from benchwright.raw.tree import Declared

    methods = []
    failures = Failures()
    with failures.collected():
        check_options(args)
    with failures.collected():
        check_accepted(args.accept_mismatch)
    with failures.collected():
        check_codes(args.accept_finding)
    for reference in args.method_metadata:
        with failures.collected():
            methods.append(Declared(reference, *publish.load_declared(reference, args.repo)))
    with failures.collected():
        found = find_results(args.path)
    failures.settle()
    if not found.files:
        raise Failure(found.problems)
    return methods, found


def check_options(args: argparse.Namespace) -> None:
    """Refuse options that mean nothing together, and a cache whose artifacts would be taken for results."""
    from benchwright.arena import default_cache_root
    from benchwright.raw.finding import takes_in

    problems = []
    cache = args.cache_root or default_cache_root()
    if args.process and takes_in(args.path, cache / "artifacts"):
        found = f"{cache} lies below {args.path}, where the artifact's copies would be results the next time"
        fix = "name another with --cache-root DIR"
        problems.append(Problem("usage", "--cache-root", found, "a cache elsewhere", fix))
    if args.process and not args.method_metadata:
        fix = "run it without --process: the declaration that it prints is a start"
        problems.append(Problem("usage", "--process", "no declaration", "--method-metadata MODULE:ATTR", fix))
    if args.process and len(args.method_metadata) > 1:
        fix = "a call for each; scripts/publish_batch.py processes several"
        problems.append(Problem("usage", "--process", f"{len(args.method_metadata)} declarations", "one", fix))
    if args.no_inspect and not args.process:
        problems.append(Problem("usage", "--no-inspect", "nothing is left to do", "", "add --process"))
    if problems:
        raise Failure(problems, exit=Exit.USAGE)


def processed(args: argparse.Namespace, metadata: MethodMetadata, tree: TreeInspection, shell: Shell) -> Outcome:
    """The artifact, built, and the command that shows its upload."""
    from benchwright.bridge import task_rows
    from benchwright.processing import build_artifact
    from benchwright.processing.coverage import datasets_without
    from benchwright.processing.findings import DECLARED, not_accepted, of_comparison, of_inspection, of_tree
    from benchwright.processing.layout import TRAJECTORIES, expects_trajectories

    (inspection,) = tree.judged
    method = inspection.method
    beside = [*(of_tree(problem, args.path) for problem in tree.tree), *datasets_without(inspection.empty)]
    beside += [of_inspection(inspection.begun)] if inspection.begun else []
    beside += [of_comparison(row) for row in inspection.compared if row.noted]
    with shell.progress("splits processed") as progress:
        artifact = build_artifact(
            method.files,
            metadata,
            cache_root=args.cache_root,
            task_rows=task_rows(args.path, {result.dataset for result in method.results}),
            cache_raw=args.cache_raw,
            trajectories=args.cache_hpo_trajectories,
            replace_present=args.replace,
            beside=beside,
            accept=args.accept_finding,
            jobs=args.jobs,
            backend=args.backend,
            progress=progress,
        )
    found = {
        "folder": str(artifact.folder),
        "counts": dict(artifact.counts),
        "findings": [finding.to_dict() for finding in artifact.findings],
    }
    again = process_command(args, *args.method_metadata)
    failing = not_accepted(artifact.findings, f"{metadata.method}: findings", again)
    # The comparison tells what of the declaration differs, the findings keep it.
    findings = [finding.problem() for finding in artifact.findings if finding.code != DECLARED]
    problems = [*tree.differences(partial(mend, args, {})), *findings]
    cache = option("--cache-root", args.cache_root)
    words = [*cache, *option("--no-upload-raw", not args.cache_raw), *declared(args, *args.method_metadata)]
    upload = command(SCRIPTS / "run_upload_results.py", *words)
    state = "" if failing is None else "; results are lost, and not accepted"
    if not args.cache_hpo_trajectories and expects_trajectories(metadata):
        whole = process_command(with_trajectories(args), *args.method_metadata)
        found = "left out; without them a tuned method cannot be uploaded"
        problems.append(Problem("no-trajectories", f"{metadata.method}: {TRAJECTORIES}", found, "", whole))
        upload = whole
    return Outcome(
        summary=f"{metadata.method}: {len(method.results)} results processed into {artifact.folder}{state}",
        data={"methods": tree.to_dict(), "artifact": found},
        details=tree.details(),
        problems=problems if failing is None else [failing, *problems],
        next=(upload,) if failing is None else (),
        exit=Exit.DONE if failing is None else Exit.NO,
    )


def kept_declarations(args: argparse.Namespace, methods: Sequence[Declared], tree: TreeInspection) -> dict[str, str]:
    """The declarations that corrections must not change, each with what to do instead.

    Those are of an installed package, or of a registered run that they say otherwise than: it may be filled in.
    """
    if not tree.corrections:
        return {}
    from benchwright.publish import find_target, registered_in
    from benchwright.publish.suite import DECLARE_IN_CHECKOUT, declare_beside

    otherwise = {
        each.declared_as
        for each in tree.judged
        if any(row.correction and row.provided is not None for row in each.compared)
    }
    kept = {}
    for each in methods:
        if each.reference in tree.corrections:
            target = find_target(each.reference, args.repo, to_write=False)
            if target.installed:
                kept[each.reference] = DECLARE_IN_CHECKOUT
            elif each.reference in otherwise and (arena := registered_in(target)) is not None:
                kept[each.reference] = declare_beside(each.metadata.suite, arena.name)
    return kept


def next_commands(args: argparse.Namespace, tree: TreeInspection, kept: Mapping[str, str]) -> list[str]:
    """What to run next: the edits of the declarations, shown but not applied, or the processing of each method.

    For a declaration that is ``kept`` it is what prints another one.
    """
    if tree.corrections:
        shown = [
            command(__file__, args.path, *option("--method", each.method.name))
            for each in tree.judged
            if each.declared_as in kept
        ]
        edits = [edit(args, name, *changes) for name, changes in tree.corrections.items() if name not in kept]
        return [*shown, *edits]
    if tree.refused:
        return []
    return [process_command(args, reference) for reference in args.method_metadata]


def process_command(args: argparse.Namespace, reference: str) -> str:
    """The command that processes a declared method with what this call accepts and expects."""
    words = [
        *repeated("--accept-mismatch", args.accept_mismatch),
        *option("--ignore-metadata-mismatch", args.ignore_metadata_mismatch),
        *repeated("--accept-finding", args.accept_finding),
        *option("--method", args.method),
        *option("--expect-validation-protocol", args.expect_validation_protocol),
        *option("--cache-root", args.cache_root),
        *option("--no-cache-raw", not args.cache_raw),
        *option("--no-cache-hpo-trajectories", not args.cache_hpo_trajectories),
        *option("--replace", args.replace),
    ]
    return command(__file__, args.path, *words, "--process", *declared(args, reference))


def with_trajectories(args: argparse.Namespace) -> argparse.Namespace:
    """This call's arguments, but that tuning over time is simulated."""
    return argparse.Namespace(**{**vars(args), "cache_hpo_trajectories": True})


def mend(args: argparse.Namespace, kept: Mapping[str, str], reference: str, correction: str) -> str:
    """The command that makes one correction of a declaration, or what to do instead."""
    return kept.get(reference) or edit(args, reference, correction, apply=True)


def edit(args: argparse.Namespace, reference: str, *corrections: str, apply: bool = False) -> str:
    """The command that brings corrections to a declaration."""
    words = [*repeated("--set", corrections), *checkout(args, reference), *option("--apply", apply)]
    return command(SCRIPTS / "set_method_info.py", reference, *words)


def declared(args: argparse.Namespace, reference: str) -> list[str]:
    """The words that name a declaration, to be run from any folder."""
    return [*option("--method-metadata", reference), *checkout(args, reference)]


def checkout(args: argparse.Namespace, reference: str) -> list[str]:
    """The words that name the checkout of a declaration."""
    from benchwright.publish.targets import named_checkout

    return option("--repo", named_checkout(reference, args.repo))


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), run_process_method))
