"""From a plan to results: checks, bundles, job files, and the run on this machine."""

from benchwright.launch.groups import Group, group_jobs, identity_of
from benchwright.launch.local import ItemFailure, RunReport, run_local
from benchwright.launch.plan import BenchmarkPlan, LocalSetup, ModelJob, PathSetup, ResourcesSetup, SchedulerSetup
from benchwright.launch.scaffold import Choices, choose, fill, parse_configs, require_filled
from benchwright.launch.setup import SetupReport, setup_jobs

__all__ = [
    "BenchmarkPlan",
    "Choices",
    "Group",
    "ItemFailure",
    "LocalSetup",
    "ModelJob",
    "PathSetup",
    "ResourcesSetup",
    "RunReport",
    "SchedulerSetup",
    "SetupReport",
    "choose",
    "fill",
    "group_jobs",
    "identity_of",
    "parse_configs",
    "require_filled",
    "run_local",
    "setup_jobs",
]
