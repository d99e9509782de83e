#!/usr/bin/env python3
"""Bring a hosted method's artifact into the cache, verified: METHOD and SUITE name it.

It is fetched from --store, or else from where the method's declaration says: the one that --method-metadata names, or
the one in the lists of registered methods, the mini arena's and those of the installed tabarena.

Every object is compared with the digest that the upload recorded, the zips are unpacked beside the artifact's place,
and the folder is put there whole. What is there already and the same is left alone; a different local artifact stays
unless --replace is given. It may be killed and run again. Credentials come from the environment or a .env file, and
buckets are not read without: not those either whose objects anyone may read by their address.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
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

from benchwright.cli import ScriptParser, Shell, command, option, run_script
from benchwright.contract import Exit, Failure, Outcome

if TYPE_CHECKING:
    from benchwright.arena import MethodMetadata
    from benchwright.objects import StoreLocation


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__)
    add = parser.add_argument
    add("method", metavar="METHOD", help="the method's name")
    add("suite", metavar="SUITE", help="the run that it was processed as")
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--store", metavar="LOCATION", help="local:FOLDER, or gs://, s3:// or r2://BUCKET/PREFIX")
    place.add_argument("--method-metadata", metavar="MODULE:ATTR", help="the declaration that names the store")
    parser.add_repo("the checkout that declares it (default: this folder, then installed)")
    parser.add_cache_root()
    add("--no-raw", action="store_false", dest="raw", help="leave the raw results out")
    add("--replace", action="store_true", help="put it in the place of a different local artifact")
    return parser


def fetch_method(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Fetch the artifact."""
    from benchwright.objects import StoreLocation, open_store
    from benchwright.publish.destination import declared_location
    from benchwright.publish.fetch import fetch

    if args.store:
        source = StoreLocation.parse(args.store)
    else:
        source = declared_location(args.method, args.suite, declarations(args, shell))
    store = open_store(source)
    options = {"cache_root": args.cache_root, "raw": args.raw, "replace": args.replace}
    try:
        with shell.progress("fetching and unpacking, MiB") as progress:
            report = fetch(store, source, args.method, args.suite, **options, progress=progress)
    except Failure as failure:
        commands = (again(args, source),) if failure.exit == Exit.REMOTE else failure.next
        raise Failure(failure.problems, exit=failure.exit, next=commands) from None
    state = "is in the cache" if report.written else "was in the cache already, the same"
    summary = f"{args.method}, suite {args.suite}: {len(report.objects)} objects, {report.size:,} bytes; it {state}"
    data = {"method": args.method, "suite": args.suite} | report.to_dict()
    return Outcome(summary, data, [f"folder: {report.folder}"], report.remarks)


def declarations(args: argparse.Namespace, shell: Shell) -> Iterator[MethodMetadata]:
    """The declaration that is named, or else the registered ones; ``tabarena`` is imported when its turn comes."""
    if args.method_metadata:
        from benchwright.publish.method_reference import load_method

        yield load_method(args.method_metadata, args.repo)
        return
    from benchwright.mini.methods import methods_superseded, mini_method_metadata_collection

    yield from (*mini_method_metadata_collection, *methods_superseded)
    shell.talk("looking through the methods of tabarena, which takes some seconds to import")
    from benchwright.bridge.published import registered_methods

    yield from registered_methods()


def again(args: argparse.Namespace, source: StoreLocation) -> str:
    """This very command, to be run from any folder."""
    words = [*option("--store", source.below(Path.cwd())), *option("--cache-root", args.cache_root)]
    words += [*option("--no-raw", not args.raw), *option("--replace", args.replace)]
    return command(__file__, args.method, args.suite, *words)


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), fetch_method))
