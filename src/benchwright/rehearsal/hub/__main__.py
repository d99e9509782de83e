"""Serve the Hub emulator: ``python -m benchwright.rehearsal.hub --state DIR --port N``.

The first start makes a sample state in DIR; what is done to it stays there. What to export is printed; requests are
logged in DIR/requests.jsonl. It ends with Ctrl-C.
"""

from __future__ import annotations

import argparse
import re
import shlex
import signal
import sys
import threading
from pathlib import Path

from benchwright.contract import Exit, Failure
from benchwright.rehearsal.hub.emulator import HubEmulator
from benchwright.rehearsal.hub.faults import faults_from
from benchwright.rehearsal.hub.limits import ACTIONS, Limit
from benchwright.rehearsal.hub.sample import add_newcomers, fill

_LIMIT = re.compile(r"(\w+)=(\d+)/(\d+)")


def build_parser() -> argparse.ArgumentParser:
    """Return the command's parser."""
    parser = argparse.ArgumentParser(
        prog="python -m benchwright.rehearsal.hub",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--state", type=Path, required=True, metavar="DIR", help="where the emulator's state is")
    add("--port", type=int, default=0, metavar="N", help="the port of the Hub (default: any free one)")
    late = "so many new models overtake all others on one board, for a sweep to find"
    add("--newcomers", type=int, default=0, metavar="N", help=late)
    add("--empty", action="store_true", help="begin with nothing instead of the sample state")
    add(
        "--faults",
        metavar="SEED:SHARE|FILE",
        help="faults: for a share of all requests (7:0.1), or a JSON list of rules",
    )
    kinds = f"api, resolvers, pages, {', '.join(ACTIONS)}"
    add("--limit", action="append", default=[], metavar="KIND=N/SECONDS", help=f"a rate limit of {kinds}")
    return parser


def main(argv: list[str] | None = None) -> int:
    """Serve until stopped; returns the exit code."""
    parser = build_parser()
    args = parser.parse_args(argv)
    hub = HubEmulator(args.state, port=args.port)
    for text in args.limit:
        _set_limit(hub, text, parser)
    try:
        hub.fault = faults_from(args.faults) if args.faults else None
    except (ValueError, OSError) as error:
        parser.error(f"--faults: {error}")
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        with hub:
            if not args.empty and not hub.state.accounts.people:
                fill(hub)
            if args.newcomers:
                add_newcomers(hub, args.newcomers)
            print(_greeting(hub), flush=True)  # noqa: T201 - what a person exports
            stop.wait()
    except Failure as failure:
        print(failure, file=sys.stderr)  # noqa: T201
        return failure.exit
    except OSError as error:
        print(f"port {args.port}, {args.state}: {error}", file=sys.stderr)  # noqa: T201
        return Exit.ENVIRONMENT
    return 0


def _set_limit(hub: HubEmulator, text: str, parser: argparse.ArgumentParser) -> None:
    match = _LIMIT.fullmatch(text)
    if match is None or match[1] not in {*hub.limits.known, *ACTIONS}:
        parser.error(f"--limit {text}: not KIND=N/SECONDS with a known kind")
    limit = Limit(int(match[2]), int(match[3]))
    if match[1] in ACTIONS:
        hub.limits.actions[match[1]] = limit
    else:
        hub.limits.known[match[1]] = hub.limits.anonymous[match[1]] = limit


def _greeting(hub: HubEmulator) -> str:
    lines = [f"The Hub emulator answers at {hub.url}; its state is in {hub.folder}. It is not the Hub.", ""]
    lines += [f"export HF_ENDPOINT={hub.url}", f"export HF_HOME={shlex.quote(str(hub.folder.resolve() / 'client'))}"]
    lines += ["export HF_HUB_DISABLE_XET=1 HF_HUB_DISABLE_TELEMETRY=1"]
    for number, (value, (user, rights)) in enumerate(hub.state.accounts.tokens.items()):
        lines.append(f"{'# ' if number else ''}export HF_TOKEN={value}  # {user}, who may {rights.role}")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
