#!/usr/bin/env python3
"""Resume many evals, some at a time: one call of their launcher for each chunk, once each, whatever is killed when.

Say again what the launch said: Harbor resumes no job whose settings differ, and what can be compared with a job's own
configuration is compared. An empty value is one: --agent-parser '' turns the parser off. Always passed on are
--resume-only --once --force-reeval. Agents that are installed in the sandbox (swe-agent, openhands, mini-swe-agent)
need --pinggy-url, --pinggy-token, --config-yaml and --agent-parser, one free tunnel for each call of this script. A
token is named and never written down: --pinggy-token env:NAME.

Jobs that may be live, that somebody forbade to resume or that were resumed often enough are refused (5), all of them
before anything is fired. --launcher harbor has Harbor itself resume jobs here, which prepare_resume.py made ready.

State is in JOBS_DIR/.resume-chunks/TAG_PREFIX_PRESET: run again, this goes on behind the chunks that were fired. One
whose launcher failed, or whose end nobody knows, is fired once more by --again N alone.
"""

from __future__ import annotations

import argparse
import os
import sys
from datetime import UTC, datetime
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

from benchwright.cli import ScriptParser, Shell, command, option, positive, repeated, run_script
from benchwright.contract import Exit, Failure, Outcome, Problem

if TYPE_CHECKING:
    from benchwright.repair.resume.batch import BatchOptions
    from benchwright.repair.resume.listener import ListenerOptions

NEEDED = ("preset", "org", "tp_size", "timeout_multiplier", "cluster_config")
"""What the launcher has to be told."""


def build_parser() -> ScriptParser:
    """Return the script's parser."""
    parser = ScriptParser(description=__doc__)
    add = parser.add_argument
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--csv", type=Path, metavar="FILE", help="columns hf_model; also status, preset, run_tag")
    which.add_argument("--priority-file", type=Path, metavar="FILE", help="a model a line")
    add("--jobs-dir", type=Path, required=True, metavar="DIR", help="the folder that Harbor writes the jobs to")
    add("--tag-prefix", required=True, metavar="TAG", help="what this batch is called: its state goes by it")
    add("--chunk-size", type=positive(int), default=4, metavar="N", help="models a chunk (default: 4)")
    add("--sleep-between", type=_seconds, default=120.0, metavar="SECONDS", help="between two chunks (default: 120)")
    add("--again", type=positive(int), action="append", default=[], metavar="N", help="fire chunk N once more")
    add("--dry-run", action="store_true", help="as without --apply")
    add("--apply", action="store_true", help="fire")
    said = parser.add_argument_group("what the launch said")
    add = said.add_argument
    add("--preset", metavar="NAME", help="such as swebench, v2 or tb2")
    add("--org", choices=("eval", "data"), help="whose sandboxes: its env file in the harness is read")
    add("--tp-size", type=positive(int), metavar="N")
    add("--dp-size", type=positive(int), metavar="N")
    add("--timeout-multiplier", type=positive(float), metavar="X")
    add("--n-concurrent", type=positive(int), default=32, metavar="N", help="trials at once (default: 32)")
    add("--conda-env", metavar="NAME")
    add(
        "--cluster-config",
        default=os.environ.get("BENCHWRIGHT_CLUSTER_CONFIG"),
        metavar="FILE",
        help="the cluster's, in the launcher's checkout (default: $BENCHWRIGHT_CLUSTER_CONFIG)",
    )
    add("--baseline-model-config", metavar="FILE")
    add("--slurm-partition", metavar="NAME")
    add("--slurm-time", default="11:59:00", metavar="TIME", help="(default: %(default)s)")
    add("--max-resume-count", type=positive(int), default=1, metavar="N", help="resumes a job may have (default: 1)")
    add("--resume-error-threshold", type=int, metavar="N", help="-1: jobs that are full and not finished, too")
    add("--enable-thinking", action=argparse.BooleanOptionalAction, default=True, help="(default: do)")
    add("--config-yaml", metavar="FILE", help="Harbor's configuration of the agent")
    add("--agent-parser", metavar="NAME", help="'' for none")
    add("--pinggy-url", metavar="HOST|env:NAME", help="the tunnel's address")
    add("--pinggy-token", metavar="env:NAME", help="the variable with the tunnel's token")
    launcher = parser.add_argument_group("the launcher")
    add = launcher.add_argument
    add("--launcher", choices=("listener", "harbor"), default="listener", help="(default: %(default)s)")
    add(
        "--harness",
        type=Path,
        metavar="DIR",
        help="its checkout (default: $BENCHWRIGHT_HARNESS, or the current folder)",
    )
    add("--program", metavar="FILE", help="(default: eval/unified_eval_listener.py in the checkout; or harbor)")
    add("--python", default="python", metavar="FILE", help="what runs the listener (default: python)")
    rest = parser.add_argument_group("whether the jobs have ended")
    add = rest.add_argument
    add("--ended", action="store_true", help="you know that they have; for runs that no scheduler knows")
    add("--db", choices=("postgres", "supabase", "none"), help="the evaluation database (default: the one configured)")
    add("--slurm", action=argparse.BooleanOptionalAction, help="ask squeue and sacct (default: where they ran one)")
    return parser


def resume_chunked(args: argparse.Namespace, shell: Shell) -> Outcome:
    """Plan; with ``--apply`` fire."""
    from benchwright.repair.resume.batch import fire_batch, plan_batch
    from benchwright.repair.resume.batch_report import batch_outcome

    apply = args.apply and not args.dry_run
    options = options_of(args)
    batch = plan_batch(options, apply=apply, now=datetime.now(UTC), talk=shell.talk, progress=shell.progress)
    if apply and not batch.problems:
        fire_batch(batch, talk=shell.talk)
    return batch_outcome(batch, applied=apply, again=again(args))


def options_of(args: argparse.Namespace) -> BatchOptions:
    """The batch that the options describe."""
    from benchwright.repair.at_rest import RestQuestion
    from benchwright.repair.resume.batch import BatchOptions
    from benchwright.repair.resume.candidates import read_list, read_table

    check(args)
    listener = listener_of(args) if args.launcher == "listener" else None
    return BatchOptions(
        jobs_dir=args.jobs_dir,
        tag_prefix=args.tag_prefix,
        candidates=read_table(args.csv, args.preset) if args.csv else read_list(args.priority_file),
        listener=listener,
        program=args.program,
        python=args.python,
        harness=(args.harness or Path(os.environ.get("BENCHWRIGHT_HARNESS", "."))).absolute(),
        chunk_size=args.chunk_size,
        sleep_between=args.sleep_between,
        again=args.again,
        question=RestQuestion(ended=args.ended, database=args.db, slurm=args.slurm),
    )


def check(args: argparse.Namespace) -> None:
    """Go on where the launcher is told all it needs, the batch has a folder's name, and no secret is written down."""
    from benchwright.objects.keys import is_key
    from benchwright.repair.env_value import env_value

    problems = [
        Problem(
            "usage",
            f"--{name.replace('_', '-')}",
            "missing",
            "what the launch said",
            f"--{name.replace('_', '-')} as it was launched",
        )
        for name in NEEDED
        if args.launcher == "listener" and getattr(args, name) is None
    ]
    if "/" in args.tag_prefix or not is_key(args.tag_prefix):
        problems.append(
            Problem(
                "usage", "--tag-prefix", f"{args.tag_prefix!a}", "a name that a folder may have", "--tag-prefix NAME"
            )
        )
    if args.pinggy_token and env_value(args.pinggy_token) is None:
        fix = "export EVAL_PINGGY_TOKEN=..., then --pinggy-token env:EVAL_PINGGY_TOKEN"
        found = "the token itself, for every process list and shell history to show"
        problems.append(Problem("literal-secret", "--pinggy-token", found, "env:NAME, the variable that has it", fix))
    if problems:
        raise Failure(problems, exit=Exit.USAGE)


def listener_of(args: argparse.Namespace) -> ListenerOptions:
    """What the launcher is told."""
    from benchwright.repair.env_value import env_value
    from benchwright.repair.resume.listener import ListenerOptions

    url, token = args.pinggy_url, args.pinggy_token
    return ListenerOptions(
        preset=args.preset,
        org=args.org,
        jobs_dir=args.jobs_dir.absolute(),
        cluster_config=args.cluster_config,
        tp_size=args.tp_size,
        dp_size=args.dp_size,
        timeout_multiplier=args.timeout_multiplier,
        n_concurrent=args.n_concurrent,
        slurm_time=args.slurm_time,
        max_resume_count=args.max_resume_count,
        conda_env=args.conda_env,
        baseline_model_config=args.baseline_model_config,
        slurm_partition=args.slurm_partition,
        resume_error_threshold=args.resume_error_threshold,
        pinggy_url=(env_value(url) or url) if url else url,
        pinggy_token=env_value(token) if token else token,
        config_yaml=args.config_yaml,
        agent_parser=args.agent_parser,
        enable_thinking=args.enable_thinking,
    )


def again(args: argparse.Namespace) -> str:
    """The command that fires what this one shows, from any folder."""
    names = ("csv", "priority_file", "jobs_dir", "tag_prefix", "chunk_size", "sleep_between", *NEEDED, "dp_size")
    names += ("n_concurrent", "conda_env", "cluster_config", "baseline_model_config", "slurm_partition", "slurm_time")
    names += ("max_resume_count", "resume_error_threshold", "config_yaml", "agent_parser", "pinggy_url", "pinggy_token")
    names += ("launcher", "program", "python", "ended", "db")
    words = [word for name in names for word in option(f"--{name.replace('_', '-')}", getattr(args, name))]
    words += repeated("--again", args.again)
    words += option("--harness", args.harness or Path(os.environ.get("BENCHWRIGHT_HARNESS", ".")))
    words += [] if args.enable_thinking else ["--no-enable-thinking"]
    words += {None: [], True: ["--slurm"], False: ["--no-slurm"]}[args.slurm]
    return command(__file__, *words, "--apply")


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text}, expected seconds, 0 or more")
    return seconds


if __name__ == "__main__":
    raise SystemExit(run_script(build_parser(), resume_chunked))
