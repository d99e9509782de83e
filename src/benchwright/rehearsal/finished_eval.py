"""A finished eval to audit and to repair: ``python -m benchwright.rehearsal.finished_eval DIR [--errors N]``.

The job's folder is made in DIR/trace_jobs, as Harbor leaves it, with traces; the launch's own config is in
DIR/experiments. Its 267 trials are those of three repeats of terminal_bench_2, N of them without a result that counts.
The model is called after N, so that two evals in DIR are of two models.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchwright.contract import Exit
from benchwright.files import write_json
from benchwright.rehearsal.harbor_jobs import JobShape, grow_job
from benchwright.rehearsal.harbor_traces import grow_traces

TRIALS = 267
_ENDINGS = ("pass", "fail", "timeout-scored")


def build_parser() -> argparse.ArgumentParser:
    """Return the command's parser."""
    parser = argparse.ArgumentParser(
        prog="python -m benchwright.rehearsal.finished_eval",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="where it is made")
    parser.add_argument("--errors", type=int, default=0, metavar="N", help="trials that failed (default: none)")
    return parser


def main(argv: list[str] | None = None) -> int:
    """Make it; returns the exit code."""
    parser = build_parser()
    args = parser.parse_args(argv)
    if not 0 <= args.errors <= TRIALS:
        parser.error(f"--errors: {args.errors} is none of 0 to {TRIALS}")
    model = f"model-{args.errors}-errors"
    tag = f"terminal_bench_2_{model}_20260901_100000"
    job = args.folder / "trace_jobs" / tag
    if job.exists():
        print(f"{job} is there already", file=sys.stderr)  # noqa: T201
        return Exit.USAGE
    kinds = [*_endings(TRIALS - args.errors), *["not-verified"] * args.errors]
    grow_job(job, kinds, JobShape(), seed=args.errors)
    grow_traces(job, least=5_000, most=50_000)
    config = args.folder / "experiments" / tag / "configs" / f"{tag}_eval_config.json"
    write_json(config, {"model_hf_name": f"example-org/{model}"})
    print(job)  # noqa: T201 - what is audited next
    return 0


def _endings(number: int) -> list[str]:
    return [_ENDINGS[trial % len(_ENDINGS)] for trial in range(number)]


if __name__ == "__main__":
    raise SystemExit(main())
