"""The call of the launcher that resumes the jobs of one chunk, with what it was given when they were launched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchwright.contract import Exit, Problem
from benchwright.harbor.progress import REJECTED
from benchwright.harbor.retry_policy import policy_in, policy_of_yaml
from benchwright.harbor.tunnels import tunnelled
from benchwright.repair.env_value import EnvValue
from benchwright.repair.resume.candidates import FoundJob

LISTENER = "eval/unified_eval_listener.py"
_DOTENVS = {"eval": "{cluster}_eval.env", "data": "{cluster}_eval_data_org.env"}
ORGS = tuple(_DOTENVS)
_DEFAULTS: Mapping[str, float] = {"timeout_multiplier": 1.0, "n_concurrent_trials": 4}
"""What a job's configuration means that leaves it out (``harbor.models.job.config.JobConfig`` of 0.25.0)."""
Word = str | EnvValue


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenerOptions:
    """What the launch said and the resume says again; see the script's help. None is left to the launcher.

    An empty text is a value: it is handed on as it is.
    """

    preset: str
    org: str
    jobs_dir: Path
    cluster_config: str
    tp_size: int
    dp_size: int | None
    timeout_multiplier: float
    n_concurrent: int
    slurm_time: str
    max_resume_count: int
    conda_env: str | None = None
    baseline_model_config: str | None = None
    slurm_partition: str | None = None
    resume_error_threshold: int | None = None
    pinggy_url: Word | None = None
    pinggy_token: Word | None = None
    config_yaml: str | None = None
    agent_parser: str | None = None
    enable_thinking: bool = False

    @property
    def dotenv(self) -> str:
        """The environment of the organisation that pays for the sandboxes, in the harness's checkout."""
        return f"hpc/dotenv/{_DOTENVS[self.org].format(cluster=Path(self.cluster_config).stem)}"

    def words(self, python: str, listener: str, priority_file: Path, size: int) -> list[Word]:
        """The command that resumes the models of a priority file, ``size`` jobs at most, whatever their rows say."""
        words: list[Word] = [python, listener, "--priority-file", str(priority_file)]
        for name in ("preset", "cluster_config", "baseline_model_config", "conda_env", "tp_size", "dp_size"):
            words += self._option(name)
        for name in ("timeout_multiplier", "n_concurrent", "slurm_partition", "slurm_time", "jobs_dir"):
            words += self._option(name)
        for name in ("max_resume_count", "resume_error_threshold", "pinggy_url", "pinggy_token"):
            words += self._option(name)
        words += [*self._option("config_yaml"), *self._option("agent_parser")]
        words += ["--enable-thinking"] if self.enable_thinking else []
        words += ["--max-jobs-submitted", str(size), "--chain-batch-size", str(size)]
        return [*words, "--resume-only", "--once", "--force-reeval"]

    def _option(self, field: str) -> list[Word]:
        value = getattr(self, field)
        if value is None:
            return []
        return [f"--{field.replace('_', '-')}", value if isinstance(value, EnvValue) else str(value)]


def checks(options: ListenerOptions, jobs: Sequence[FoundJob]) -> Iterator[tuple[Problem, Exit]]:
    """What would go wrong with the jobs, by their own configurations."""
    for job in jobs:
        where = str(job.folder)
        if (job.folder / REJECTED).exists():
            fix = "leave this model out, or ask whoever put it there"
            yield (
                Problem("rejected", str(job.folder / REJECTED), "is there", "a job that may be resumed", fix),
                Exit.REFUSED,
            )
        told = job.meta.get("RESUME_COUNT", "")
        if told.isdecimal() and int(told) >= options.max_resume_count:
            fix = f"leave this model out, or --max-resume-count {int(told) + 1}"
            found = f"resumed {int(told)} times by its meta.env"
            yield Problem("resume-limit", where, found, f"fewer than {options.max_resume_count}", fix), Exit.REFUSED
        yield from _of_settings(options, job)
        yield from _of_tunnel(options, job)


def policy_changes(options: ListenerOptions, jobs: Sequence[FoundJob], harness: Path) -> list[str]:
    """How the retry policy of the resumed legs differs from that of the first ones, where both can be read."""
    if not options.config_yaml:
        return []
    places = (harness / options.config_yaml, harness / "eval" / "configs" / options.config_yaml)
    file = next((place for place in places if place.is_file()), None)
    now = policy_of_yaml(file) if file is not None else None
    if now is None:
        return []
    before = [policy for job in jobs if (policy := policy_in(job.folder)) is not None]
    return list(dict.fromkeys(change for policy in before for change in policy.changes(now)))


def _of_settings(options: ListenerOptions, job: FoundJob) -> Iterator[tuple[Problem, Exit]]:
    """Harbor compares these with the job's own, and resumes nothing where they differ."""
    said = {"timeout_multiplier": options.timeout_multiplier, "n_concurrent_trials": options.n_concurrent}
    for name, value in said.items():
        own = _setting(job, name)
        if own != value:
            flag = "--n-concurrent" if name == "n_concurrent_trials" else "--timeout-multiplier"
            fix = f"say what the launch said: {flag} {own}"
            problem = Problem("config-conflict", f"{job.folder}: {name}", f"{own}", f"{value}, as the options say", fix)
            yield problem, Exit.NO


def _setting(job: FoundJob, name: str) -> object:
    """A setting of a job; older versions say it of their orchestrator, and newer ones write no default."""
    for place in (job.settings, job.settings.get("orchestrator")):
        if isinstance(place, Mapping) and place.get(name) is not None:
            return place[name]
    return _DEFAULTS[name]


def _of_tunnel(options: ListenerOptions, job: FoundJob) -> Iterator[tuple[Problem, Exit]]:
    agents = tunnelled(job.settings)
    if not agents:
        return
    lacks = [] if options.pinggy_url else ["--pinggy-url"]
    lacks += [] if options.pinggy_token else ["--pinggy-token"]
    lacks += [] if options.config_yaml else ["--config-yaml"]
    lacks += [] if options.agent_parser is not None else ["--agent-parser"]
    if lacks:
        found = f"{', '.join(agents)} calls the model through a tunnel, and {', '.join(lacks)} is missing"
        fix = "read a free pair into the environment, then --pinggy-url env:EVAL_PINGGY_URL --pinggy-token "
        fix += "env:EVAL_PINGGY_TOKEN --config-yaml FILE --agent-parser '' (or the parser of the launch)"
        yield Problem("tunnel-flags", str(job.folder), found, "all four of them", fix), Exit.USAGE


def settled(words: Sequence[Word], environment: Mapping[str, str]) -> list[str]:
    """The words with the values that they name.

    Raises:
        Failure: a variable is not set (exit 3).
    """
    return [word.read(environment) if isinstance(word, EnvValue) else word for word in words]
