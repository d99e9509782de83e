"""From a plan to results: checks, bundles, job files, and the run on this machine."""

from benchwright.launch.choices import Choices, Request
from benchwright.launch.groups import Group, group_jobs, identity_of
from benchwright.launch.local import ItemFailure, RunReport, run_local
from benchwright.launch.new_benchmark import NewBenchmark, plan_benchmark
from benchwright.launch.plan import (
    BenchmarkPlan,
    GCPSlurmSetup,
    LocalSetup,
    ModelJob,
    PathSetup,
    ResourcesSetup,
    SchedulerSetup,
    SkyPilotSetup,
    SlurmSetup,
)
from benchwright.launch.scaffold import require_filled, write_run_script
from benchwright.launch.setup import setup_jobs
from benchwright.launch.setup_report import SetupReport
from benchwright.launch.sky_launch import fetch_run
from benchwright.launch.sky_pools import with_pools_down

__all__ = [
    "BenchmarkPlan",
    "Choices",
    "GCPSlurmSetup",
    "Group",
    "ItemFailure",
    "LocalSetup",
    "ModelJob",
    "NewBenchmark",
    "PathSetup",
    "Request",
    "ResourcesSetup",
    "RunReport",
    "SchedulerSetup",
    "SetupReport",
    "SkyPilotSetup",
    "SlurmSetup",
    "fetch_run",
    "group_jobs",
    "identity_of",
    "plan_benchmark",
    "require_filled",
    "run_local",
    "setup_jobs",
    "with_pools_down",
    "write_run_script",
]
