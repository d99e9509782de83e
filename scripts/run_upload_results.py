#!/usr/bin/env python3
"""Upload a processed method from the cache to the store that its metadata declares, and prove it there.

Every part is checked before anything is sent; without --apply that is all, and needs no credentials. The upload sends
what is not there yet, the marker metadata.yaml last, and reads every object back. It may be killed and run again. A
different artifact in its place is left alone unless --replace is given. Credentials come from the environment or a
.env file: R2_ACCOUNT_ID, R2_ACCESS_KEY_ID and R2_SECRET_ACCESS_KEY, or those of AWS; never from options.
"""

from __future__ import annotations

import argparse
import platform
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

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

from benchwright.cli import Handoff, ScriptParser, Shell, command, option, run_script
from benchwright.contract import Exit, Failure, Outcome

if TYPE_CHECKING:
    from benchwright.arena import MethodMetadata
    from benchwright.objects import ObjectStore
    from benchwright.publish.artifact import DeclaredArtifact
    from benchwright.publish.upload_plan import UploadPlan


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__, handoff=True)
    method = parser.add_mutually_exclusive_group(required=True)
    method.add_argument("--method-metadata", metavar="MODULE:ATTR", help="the method's declaration")
    method.add_argument(
        "--from-cache", nargs=2, metavar=("METHOD", "SUITE"), help="by the metadata that the cache holds instead"
    )
    parser.add_repo("the checkout that declares it (default: this folder, then installed)")
    parser.add_cache_root()
    add = parser.add_argument
    add("--store", metavar="LOCATION", help="local:FOLDER, or gs://, s3:// or r2://BUCKET/PREFIX, not the declared")
    add("--no-upload-raw", action="store_false", dest="raw", help="leave raw results out; the hosted metadata says so")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--apply", "--no-dry-run", action="store_true", dest="apply", help="upload")
    mode.add_argument("--verify-only", action="store_true", help="read back what was uploaded earlier; sends nothing")
    add("--replace", action="store_true", help="put it in the place of a different artifact, and list that one")
    return parser


def run_upload_results(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Plan the upload; with ``--apply`` do it, with ``--verify-only`` prove an earlier one."""
    from benchwright.publish.method_reference import with_reference

    if not args.method_metadata:
        return uploaded(args, shell)
    try:
        outcome = uploaded(args, shell)
        return replace(outcome, problems=with_reference(outcome.problems, *reference_of(args)))
    except Failure as failure:
        problems = with_reference(failure.problems, *reference_of(args))
        raise Failure(problems, exit=failure.exit, next=failure.next) from None


def uploaded(args: argparse.Namespace, shell: Shell) -> Outcome:
    """The upload, its plan or its proof."""
    from benchwright.objects import open_store
    from benchwright.publish.artifact import no_artifact, open_for_upload
    from benchwright.publish.destination import destination_of
    from benchwright.publish.upload_plan import destination_for, plan_upload

    named = args.method_metadata or tuple(args.from_cache)
    metadata, artifact = open_for_upload(named, repository=args.repo, cache_root=args.cache_root)
    if artifact is None and args.from_cache and not (args.verify_only and args.store):
        raise no_artifact(metadata.path)  # only an artifact says where it goes
    kept_raw = artifact is None or artifact.kept_raw
    with shell.progress("checking, MiB") as progress:
        # Raw results that processing did not keep cannot have been uploaded; an upload has to be told to do without.
        checking = {"upload_raw": args.raw and (kept_raw or not args.verify_only), "progress": progress}
        if args.verify_only:
            destination = destination_of(metadata, args.store)
        else:
            destination = destination_for(metadata, artifact, args.store, **checking)
        if artifact is None and not args.verify_only:
            raise no_artifact(metadata.path)
        # Missing credentials are said before a long check.
        store = open_store(destination) if args.apply or args.verify_only else None
        plan = None if artifact is None else plan_upload(artifact, destination, **checking)
    if args.verify_only:
        return verified(metadata, plan, store, shell)
    if args.handoff:
        shell.hand_off(sheet(args, artifact, plan))
    return plan.outcome(again(args, "--apply")) if store is None else applied(args, metadata, plan, store, shell)


def applied(
    args: argparse.Namespace, metadata: MethodMetadata, plan: UploadPlan, store: ObjectStore, shell: Shell
) -> Outcome:
    """The upload, and what reading it back proved."""
    from benchwright.publish.standing import MetadataDiffers
    from benchwright.publish.upload import upload

    try:
        with shell.progress("sending and reading back, MiB") as progress:
            report = upload(plan, store, replace=args.replace, progress=progress)
    except MetadataDiffers as failure:
        commands = (again(args, "--replace"),)
        raise Failure(failure.problems, exit=failure.exit, next=commands) from None
    except Failure as failure:
        mode = "--verify-only" if failure.exit == Exit.REFUSED else "--apply"
        of_hand = any(problem.code == "bad-manifest" for problem in failure.problems)
        commands = () if of_hand else (again(args, mode),)
        raise Failure(failure.problems, exit=failure.exit, next=commands) from None
    return report.outcome(registration(args, metadata))


def verified(metadata: MethodMetadata, plan: UploadPlan | None, store: ObjectStore, shell: Shell) -> Outcome:
    """What reading back an earlier upload proves: against the local artifact, or else against its manifest."""
    from benchwright.publish.verify import verify_hosted, verify_plan

    with shell.progress("reading back, MiB") as progress:
        if plan is None:
            proof = verify_hosted(store, *metadata.key, progress=progress)
            return proof.outcome(f"{metadata.method}, suite {metadata.suite}", {"applied": False})
        proof = verify_plan(store, plan, progress=progress)
    return proof.outcome(plan.label, plan.to_dict() | {"applied": False})


def sheet(args: argparse.Namespace, artifact: DeclaredArtifact, plan: UploadPlan) -> Handoff:
    """The upload as a command sheet for another person, here or at another machine."""
    from benchwright.arena.official import arena_of
    from benchwright.publish.upload_sheet import uncommitted, upload_sheet

    arena = arena_of(artifact.metadata)
    register = registration(args, artifact.metadata) or [f"scripts/register_method.py MODULE:ATTR --arena {arena}"]
    suite = option("--suite", artifact.metadata.suite)
    log = command(Path(__file__).with_name("log_run.py"), "--run-script", "tmp_scripts/run_KEY.py", *suite)
    text = upload_sheet(
        artifact,
        plan,
        cache_root=args.cache_root,
        uncommitted=uncommitted(args.method_metadata, args.repo) if args.method_metadata else None,
        options=option("--no-upload-raw", not args.raw),
        after=[*register, log],
    )
    return Handoff(
        text.title,
        text.why,
        commands=[again(args, "--apply"), again(args, "--verify-only")],
        checks=text.checks,
        facts=text.facts,
        heading=f"On this machine, {platform.node()}",
        sections=text.sections,
    )


def again(args: argparse.Namespace, mode: str) -> str:
    """This very command in another mode, to be run from any folder."""
    from benchwright.arena import default_cache_root
    from benchwright.objects import StoreLocation

    words = ["--from-cache", *args.from_cache] if args.from_cache else declared(args, "--method-metadata")
    words += option("--cache-root", (args.cache_root or default_cache_root()).resolve())
    words += option("--store", args.store and StoreLocation.parse(args.store).below(Path.cwd()))
    words += option("--no-upload-raw", not args.raw)
    words += option("--replace", args.replace and mode == "--apply")
    return command(__file__, *words, mode)


def registration(args: argparse.Namespace, metadata: MethodMetadata) -> tuple[str, ...]:
    """The step after a proved upload, as a dry run."""
    from benchwright.arena.official import arena_of

    if not args.method_metadata:
        return ()
    arena = "mini" if args.method_metadata.startswith("benchwright.") else arena_of(metadata)
    return (command(Path(__file__).with_name("register_method.py"), *declared(args), "--arena", arena),)


def reference_of(args: argparse.Namespace) -> tuple[str, Path | None]:
    """The declaration, and the checkout to name with it; as it was typed where there is no such declaration."""
    from benchwright.publish.targets import named_checkout

    try:
        return args.method_metadata, named_checkout(args.method_metadata, args.repo)
    except Failure:
        return args.method_metadata, args.repo


def declared(args: argparse.Namespace, *before: str) -> list[str]:
    """The words that name the declaration, to be run from any folder."""
    from benchwright.publish.targets import named_checkout

    checkout = named_checkout(args.method_metadata, args.repo)
    return [*before, args.method_metadata, *option("--repo", checkout)]


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), run_upload_results))
