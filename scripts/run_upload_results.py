#!/usr/bin/env python3
"""Upload a processed method from the cache to the store that its metadata declares, and prove it there.

Every part is checked before anything is sent; without --apply that is all, and needs no credentials. The upload sends
what is not there yet, the marker metadata.yaml last, and reads every object back. It may be killed and run again. A
different artifact in its place is left alone unless --replace is given. Credentials come from the environment or a
.env file: R2_ACCOUNT_ID, R2_ACCESS_KEY_ID and R2_SECRET_ACCESS_KEY, or those of AWS; never from options.
"""

from __future__ import annotations

import argparse
import shlex
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

from benchwright.cli import Handoff, ScriptParser, Shell, run_script
from benchwright.contract import Exit, Failure, Outcome, Problem

if TYPE_CHECKING:
    from benchwright.arena import MethodMetadata
    from benchwright.objects import ObjectStore
    from benchwright.publish.artifact import Artifact
    from benchwright.publish.upload_plan import UploadPlan
    from benchwright.publish.verify import Verification

DRY = "DRY RUN: nothing written"
SCRIPTS = Path(__file__).resolve().parent


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__, handoff=True)
    method = parser.add_mutually_exclusive_group(required=True)
    method.add_argument("--method-metadata", metavar="MODULE:ATTR", help="the method's declaration")
    method.add_argument(
        "--from-cache", nargs=2, metavar=("METHOD", "SUITE"), help="by the metadata that the cache holds instead"
    )
    add = parser.add_argument
    add("--repo", type=Path, metavar="DIR", help="the checkout that declares it (default: this folder, then installed)")
    add("--cache-root", type=Path, metavar="DIR", help="default: $TABARENA_CACHE, or else ~/.cache/tabarena")
    add("--store", metavar="LOCATION", help="local:FOLDER, s3://BUCKET/PREFIX or r2://BUCKET/PREFIX, not the declared")
    add("--no-upload-raw", action="store_false", dest="raw", help="leave the raw results out")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--apply", "--no-dry-run", action="store_true", dest="apply", help="upload")
    mode.add_argument("--verify-only", action="store_true", help="read back what was uploaded earlier; sends nothing")
    add("--replace", action="store_true", help="put it in the place of a different artifact, and list that one")
    return parser


def run_upload_results(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Plan the upload; with ``--apply`` do it, with ``--verify-only`` prove an earlier one."""
    from benchwright.objects import open_store
    from benchwright.publish.upload_plan import destination_of, plan_upload

    if args.verify_only:
        return verified(args, shell)
    artifact = opened(args)
    destination = destination_of(artifact.metadata, args.store)
    store = open_store(destination) if args.apply else None  # missing credentials are said before a long check
    with shell.progress("checking, MiB") as progress:
        plan = plan_upload(artifact, destination, upload_raw=args.raw, progress=progress)
    shell.hand_off(sheet(args, plan))
    return dry(args, plan) if store is None else applied(args, plan, store, shell)


def opened(args: argparse.Namespace) -> Artifact:
    """The artifact that the command line names."""
    from benchwright.publish.artifact import open_artifact, open_recorded
    from benchwright.publish.method_reference import can_declare, load_method

    if args.from_cache:
        return open_recorded(*args.from_cache, cache_root=args.cache_root)
    artifact = open_artifact(load_method(args.method_metadata, args.repo), args.cache_root)
    if can_declare("validation_protocol", args.method_metadata, args.repo):
        return artifact
    return artifact.with_recorded_protocol()


def dry(args: argparse.Namespace, plan: UploadPlan) -> Outcome:
    """What would be done, and the command that does it."""
    missing = credentials(plan.destination.kind)
    summary = f"{DRY}; {label(plan)}: {len(plan.objects)} objects, {plan.size:,} bytes, complete, for {plan.url}"
    details = [f"parts: {', '.join(plan.parts)}", *objects(plan), *missing]
    data = plan.to_dict() | {"applied": False, "credentials": missing}
    return Outcome(summary, data, details, plan.remarks, next=(command(args, "--apply"),), closing=(DRY,))


def applied(args: argparse.Namespace, plan: UploadPlan, store: ObjectStore, shell: Shell) -> Outcome:
    """The upload, and what reading it back proved."""
    from benchwright.publish.upload import upload

    try:
        with shell.progress("sending and reading back, MiB") as progress:
            report = upload(plan, store, replace=args.replace, progress=progress)
    except Failure as failure:
        mode = "--verify-only" if failure.exit == Exit.REFUSED else "--apply"
        raise Failure(failure.problems, exit=failure.exit, next=(command(args, mode),)) from None
    proof = report.verification
    how = f"{len(report.sent)} sent, {len(report.kept)} there already"
    if report.replaced:
        how += f", {len(report.replaced)} of a predecessor replaced"
    data = plan.to_dict() | report.to_dict() | {"applied": True}
    return proved(f"{label(plan)}: {how}", proof, data, plan.remarks, registration(args) if proof.ok else ())


def verified(args: argparse.Namespace, shell: Shell) -> Outcome:
    """What reading back an earlier upload proves: against the local artifact, or else against its manifest."""
    from benchwright.objects import open_store
    from benchwright.processing.layout import METADATA
    from benchwright.publish.byte_count import ByteCount
    from benchwright.publish.upload_plan import destination_of, plan_upload
    from benchwright.publish.verify import verify_hosted, verify_objects

    metadata = declared(args)
    destination = destination_of(metadata, args.store)
    if not (metadata.path / METADATA).is_file():
        with shell.progress("reading back, MiB") as progress:
            proof = verify_hosted(open_store(destination), *metadata.key, progress=progress)
        return proved(f"{metadata.method}, suite {metadata.suite}", proof, {"applied": False})
    with shell.progress("checking, MiB") as progress:
        plan = plan_upload(opened(args), destination, upload_raw=args.raw, progress=progress)
    with shell.progress("reading back, MiB") as progress:
        count = ByteCount(progress, plan.size)
        basis = "the files of the local artifact"
        proof = verify_objects(open_store(destination), plan.manifest, basis=basis, count=count)
    return proved(label(plan), proof, plan.to_dict() | {"applied": False})


def declared(args: argparse.Namespace) -> MethodMetadata:
    """The method, whether its artifact is in the cache or not."""
    from benchwright.arena import MethodMetadata
    from benchwright.publish.method_reference import load_method

    if args.method_metadata:
        metadata = load_method(args.method_metadata, args.repo)
    else:
        metadata = MethodMetadata(**dict(zip(("method", "suite"), args.from_cache, strict=True)))
        metadata = replace(metadata, cache_root=args.cache_root)
        if metadata.path.is_dir():
            metadata = opened(args).metadata
    return replace(metadata, artifact_dir=None, cache_root=args.cache_root)


def proved(
    what: str,
    proof: Verification,
    data: dict[str, object],
    remarks: tuple[Problem, ...] = (),
    next: tuple[str, ...] = (),
) -> Outcome:
    """The outcome of a verification."""
    state = f"{len(proof.proofs)} objects proved" if proof.ok else f"{len(proof.problems)} problems"
    return Outcome(
        f"{what}: {state} at {proof.url}",
        data | {"verification": proof.to_dict()},
        [f"compared with {proof.basis}", *proof.lines],
        (*proof.problems, *proof.remarks, *remarks),
        next,
        exit=Exit.DONE if proof.ok else Exit.NO,
    )


def label(plan: UploadPlan) -> str:
    """The method as people name it."""
    return f"{plan.method}, suite {plan.suite}"


def objects(plan: UploadPlan) -> list[str]:
    """The objects for people."""
    return [f"  {one.name}: {one.size:,} bytes, SHA-256 {one.sha256[:12]}..." for one in plan.objects]


def credentials(kind: str) -> list[str]:
    """What is missing for the upload, and how to obtain it; nothing is contacted."""
    from benchwright.objects import credentials_help, missing_credentials, settings_from_environment

    try:
        missing = missing_credentials(kind, settings := settings_from_environment())
    except Failure as failure:
        missing = failure.problems
    else:
        if kind == "s3" and not missing and not {"AWS_ACCESS_KEY_ID", "AWS_PROFILE"} & settings.keys():
            missing = (Problem("no-credentials", kind, "none set here; those of a profile or a role would be used"),)
    lines = [f"credentials: {problem.where}: {problem.found}" for problem in missing]
    return [*lines, *(f"  {line}" for line in credentials_help(kind))] if lines else []


def sheet(args: argparse.Namespace, plan: UploadPlan) -> Handoff:
    """The upload as a command sheet for another person."""
    from benchwright.objects import credentials_help

    remarks = [f"{remark.where}: {remark.found}" for remark in plan.remarks]
    return Handoff(
        title=f"Upload {label(plan)}",
        why=f"The artifact was checked and is complete; it goes to {plan.url}. Whoever runs this needs credentials.",
        commands=[command(args, "--apply"), command(args, "--verify-only")],
        checks=[
            "the first command ends with every object proved, and exit code 0",
            "exit code 4: run the same command again; what is there already is not sent again",
            "exit code 5: another artifact or another upload is there; look before you act",
        ],
        facts=[f"{plan.size:,} bytes: {', '.join(plan.parts)}", *credentials_help(plan.destination.kind), *remarks],
    )


def command(args: argparse.Namespace, mode: str) -> str:
    """This very command in another mode, to be run from any folder."""
    from benchwright.arena import default_cache_root
    from benchwright.objects import StoreLocation

    words = ["--from-cache", *args.from_cache] if args.from_cache else ["--method-metadata", args.method_metadata]
    words += checkout(args)
    words += ["--cache-root", str((args.cache_root or default_cache_root()).resolve())]
    if args.store:
        store = StoreLocation.parse(args.store)
        place = str(Path(store.place).expanduser().resolve()) if store.kind == "local" else store.place
        words += ["--store", str(replace(store, place=place))]
    words += ["--no-upload-raw"] if not args.raw else []
    words += ["--replace"] if args.replace and mode == "--apply" else []
    return shlex.join([sys.executable, str(SCRIPTS / "run_upload_results.py"), *words, mode])


def registration(args: argparse.Namespace) -> tuple[str, ...]:
    """The step after a proved upload, as a dry run."""
    if not args.method_metadata:
        return ()
    arena = "mini" if args.method_metadata.startswith("benchwright.") else "tabarena"
    words = [sys.executable, str(SCRIPTS / "register_method.py"), args.method_metadata, "--arena", arena]
    return (shlex.join([*words, *checkout(args)]),)


def checkout(args: argparse.Namespace) -> list[str]:
    """The option that names the checkout from any folder; none for the declaration of an installed package."""
    from benchwright.publish.targets import find_target

    if not args.method_metadata:
        return []
    folder = (args.repo or Path.cwd()).resolve()
    target = find_target(args.method_metadata, args.repo, to_write=False)
    return ["--repo", str(folder)] if args.repo is not None or target.path.is_relative_to(folder) else []


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), run_upload_results))
