"""Whatever sources fail, in whatever order: what they tell is right or unknown, and no bad eval is ever OK."""

from __future__ import annotations

import contextlib
import random
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from audit_runs import BENCHMARK, BENCHMARKS, GOOD, NOW, ORG, AuditedRun
from benchwright.audit import SETTLED, judge
from benchwright.audit.gather import Sources, gather
from benchwright.audit.gather_folder import FolderRules
from benchwright.audit.manifest import Entry
from benchwright.audit.trace_hub import TraceHub
from benchwright.evaldb import Patience
from benchwright.harbor import Benchmarks, Taxonomy
from benchwright.hub.client import HubPatience
from benchwright.rehearsal.harbor_jobs import JobShape
from benchwright.rehearsal.postgrest_standin import Answer as RowsAnswer
from benchwright.slurm import CallError, Clients, Trouble
from hub_standin import TOKEN, Answer, refusal

BAD = (*GOOD[:8], "no-sandbox", "no-sandbox", "no-key", "no-key")
RUNS = {
    "good": GOOD,
    "a third failed": BAD,
    "half never started": (*GOOD[:6], *["unfinished"] * 6),
    "a zero that says nothing": ("no-sandbox",) * 12,
    "no reward and no word": ("unverified",) * 12,
}
HUB_FAULTS = (refusal(401, "RepoNotFound"), refusal(403), refusal(404), refusal(429), refusal(500), Answer(0),
              Answer(200, b"[]x"), Answer(206, b"PAR1"))  # fmt: skip
ROWS_FAULTS = (RowsAnswer(0), RowsAnswer(500), RowsAnswer(401), RowsAnswer(200, b"[", ()), RowsAnswer(503))
SLURM_FAULTS = tuple(CallError("x", trouble, "y") for trouble in Trouble if trouble is not Trouble.ACCOUNTING_OFF)
NO_WAIT = Patience(attempts=2, first_wait=0.001, longest_wait=0.001, connect_timeout=2, answer_timeout=5)


class FlakyClients(Clients):
    """Clients of a cluster on which every run ended, which fail when they are told to."""

    def __init__(self, accounts, fault):
        object.__setattr__(self, "accounts", accounts)
        object.__setattr__(self, "fault", fault)

    def call(self, program, *arguments, **more):
        return self.fault() or ("" if program == "squeue" else self.accounts)


class World:
    """Runs, rows, traces and a scheduler, of which each may fail at any request."""

    def __init__(self, root, eval_rows, hub):
        self.hub, self.standin = hub, eval_rows.standin
        self.runs = {}
        lines = []
        for number, (name, kinds) in enumerate(RUNS.items()):
            run = AuditedRun(root, f"small_bench_real-model-8B_{number}", kinds, JobShape(source=BENCHMARK),
                             row_id=f"00000000-0000-4000-8000-{number:012}", slurm_id=str(100 + number),
                             seed=number)  # fmt: skip
            run.row(eval_rows, id=run.row_id)
            run.upload(hub)
            self.runs[run.tag] = name
            began = datetime(2026, 9, 1, 10, tzinfo=UTC)
            times = [f"{(began + timedelta(hours=hours)).timestamp():.0f}" for hours in (0, 0, 9)]
            lines.append("\x1f".join((run.slurm_id, run.slurm_id, "COMPLETED", *times, "eval", "/", "sbatch x")))
        eval_rows.load()
        self.accounts = "\n".join(lines)
        self.entries = [Entry(folder) for folder in sorted((root / "trace_jobs").iterdir())]
        self.database = eval_rows.open("supabase", NO_WAIT, key=eval_rows.standin.service_key)
        (root / "benchmarks.yaml").write_text(BENCHMARKS)
        self.rules = FolderRules(Taxonomy.load().profile(), Benchmarks.load(root / "benchmarks.yaml"))

    def look(self, seed: int, share: float):
        """What all sources tell where each request fails with a probability of ``share``."""
        dice = random.Random(seed)

        def fault(faults):
            return dice.choice(faults) if dice.random() < share else None

        self.hub.fault = lambda request: fault(HUB_FAULTS)
        self.standin.fault = lambda request: fault(ROWS_FAULTS)
        hub = TraceHub(self.hub.url, TOKEN, HubPatience(attempts=2, first_wait=0.001, longest_wait=0.001, timeout=5))
        sources = Sources(
            folders=self.rules,
            database=self.database,
            owners=frozenset({"ada"}),
            clients=FlakyClients(self.accounts, lambda: fault(SLURM_FAULTS)),
            hub=hub,
            trace_orgs=(ORG,),
        )
        shuffled = dice.sample(self.entries, len(self.entries))
        found = gather(shuffled, sources, now=NOW, progress=lambda _: contextlib.nullcontext(lambda *_, **__: None))
        return {self.runs[facts.run_tag]: facts for facts in found.facts}, found.troubles


@pytest.fixture(scope="module")
def world(tmp_path_factory, postgres_server, postgrest_standin, hub_server):
    from eval_databases import EvalRows

    rows = EvalRows(postgres_server, postgrest_standin)
    rows.empty()
    hub_server.empty()
    made = World(tmp_path_factory.mktemp("world"), rows, hub_server)
    yield made
    made.database.close()
    made.standin.fault = None
    hub_server.empty()


@pytest.fixture(scope="module")
def truth(world):
    facts, troubles = world.look(0, 0.0)
    assert (troubles.problems, world.hub.unknown) == ([], [])
    return facts


def test_what_the_sources_say_when_none_fails(truth):
    verdicts = {name: judge(facts, now=NOW).verdict for name, facts in truth.items()}
    assert verdicts == {
        "good": "OK",
        "a third failed": "DEREGISTER+RESUME",
        "half never started": "DEREGISTER+RESUME",
        "a zero that says nothing": "RERUN",
        "no reward and no word": "DEREGISTER+RESUME",
    }


@hypothesis_settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(seed=st.integers(0, 2**32), share=st.sampled_from([0.05, 0.2, 0.5, 0.9]))
def test_no_sequence_of_failures_makes_a_bad_eval_good_or_a_fact_false(world, truth, seed, share):
    found, troubles = world.look(seed, share)
    for name, facts in found.items():
        right = truth[name]
        for part in ("job", "trials", "rows"):
            told = getattr(facts, part)
            assert told == getattr(right, part) or told is None or (part == "rows" and _less_known(told, right.rows))
        assert set(facts.traces or ()) <= set(right.traces)
        for part in ("job", "trials", "rows", "traces"):
            assert getattr(facts, part) is not None or facts.unknown[part]
        judged = judge(facts, now=NOW)
        verdict = judged.verdict
        assert verdict not in SETTLED or name == "good"
        assert _off(judged) <= _off(judge(right, now=NOW))
        if name == "good" and verdict == "OK":
            assert None not in (facts.job, facts.trials, facts.rows, facts.traces)
    lost = any(None in (facts.job, facts.rows, facts.traces) for facts in found.values())
    assert troubles.exit or not lost


def _off(judgement):
    """The rows that are to be taken off the board, or dropped."""
    return {row.id for row in judgement.rows if row.advice in ("deregister", "drop")}


def _less_known(told, right):
    """Whether rows are the right ones, but that nobody can say which of them live."""
    unknowing = [msgspec.structs.replace(row, live=None) for row in right]
    return list(told) == unknowing
