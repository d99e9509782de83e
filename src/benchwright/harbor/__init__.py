"""Job folders of agentic evaluations that Harbor ran: what their trials say, and what the errors in them mean."""

from benchwright.harbor.aggregate import Aggregate, EvalStats
from benchwright.harbor.benchmarks import Benchmark, Benchmarks, benchmark_of, dataset_name, dataset_of
from benchwright.harbor.cache import ScanCache
from benchwright.harbor.figures import ErrorCount, Figures, Scores, figures
from benchwright.harbor.job import Job
from benchwright.harbor.job_config import AgentChoice, JobConfig
from benchwright.harbor.means import Rewards
from benchwright.harbor.one_model import with_models
from benchwright.harbor.places import JobPlace, find_jobs, resolve_job_folder
from benchwright.harbor.plan import Planned, plan_of
from benchwright.harbor.reading import read_job, read_jobs, read_tree
from benchwright.harbor.remark import Remark
from benchwright.harbor.remote import RemoteFolder
from benchwright.harbor.tally import Evidence, Kind, Tally
from benchwright.harbor.taxonomy import ErrorClass, Profile, Taxonomy
from benchwright.harbor.tree import Folder, Tree
from benchwright.harbor.trial import Trial, TrialState

__all__ = [
    "AgentChoice",
    "Aggregate",
    "Benchmark",
    "Benchmarks",
    "ErrorClass",
    "ErrorCount",
    "EvalStats",
    "Evidence",
    "Figures",
    "Folder",
    "Job",
    "JobConfig",
    "JobPlace",
    "Kind",
    "Planned",
    "Profile",
    "Remark",
    "RemoteFolder",
    "Rewards",
    "ScanCache",
    "Scores",
    "Tally",
    "Taxonomy",
    "Tree",
    "Trial",
    "TrialState",
    "benchmark_of",
    "dataset_name",
    "dataset_of",
    "figures",
    "find_jobs",
    "plan_of",
    "read_job",
    "read_jobs",
    "read_tree",
    "resolve_job_folder",
    "with_models",
]
