"""The options that several scripts of agentic evals take; ``add`` is the ``add_argument`` of a parser or a group."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchwright.cli.parser import moment

Add = Callable[..., Any]


def add_jobs(add: Add) -> None:
    """Add which jobs are looked at, here and in buckets, and what they are judged by."""
    add("places", nargs="*", metavar="PLACE", help="a job's folder, its address in a bucket, or with --iris its name")
    add("--jobs-root", type=Path, metavar="DIR", help="a folder of jobs: all of them")
    add_iris(add)
    add("--tag", action="append", metavar="GLOB", help="jobs so named, of the table or the buckets (default: *eval-*)")
    add("--since", type=moment, metavar="DATE", help="jobs launched from this day on, by the time in their id")
    add_judging(add)


def add_iris(add: Add) -> None:
    """Add where the jobs of Iris are."""
    add("--iris", nargs="+", action="extend", default=[], metavar="BUCKET", help="every bucket that jobs may write to")
    add("--iris-jobs", type=Path, metavar="FILE", help="the jobs table as CSV: which jobs there are, which are live")


def add_judging(add: Add) -> None:
    """Add what evals are judged by."""
    add("--profile", metavar="NAME", help="whose error classes count (default: seven; see error_taxonomy.yaml)")
    add_benchmarks(add)


def add_benchmarks(add: Add) -> None:
    """Add the file of further benchmarks."""
    add("--benchmarks", type=Path, metavar="FILE", help="more benchmarks, in the form of benchmarks.yaml")


def add_manifest(add: Add) -> None:
    """Add what a person says of one run."""
    add("--manifest", type=Path, metavar="FILE", help="what else a person says of the run; see audit_evals.py")
    add("--jobs-root", type=Path, metavar="DIR", help="what relative paths in the manifest are below")
