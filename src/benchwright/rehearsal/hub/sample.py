"""A state to practise on: benchmarks with boards, models with every peculiarity that a port of results meets.

All names and numbers are made up. Cards say where their numbers come from as cards do, some of them badly.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from benchwright.rehearsal.hub.emulator import HubEmulator
from benchwright.rehearsal.hub.records import Repo

PORTER, OWNER, VISITOR = "porter", "nova-keeper", "visitor"
NEWCOMERS = "late-lab"
_BEGIN = datetime(2026, 3, 2, 9, tzinfo=UTC)


def fill(hub: HubEmulator) -> None:
    """Make the sample state, and a token each for who ports, who only reads, and an owner of ``nova-ai``."""
    with hub.at_once(), hub.at(_BEGIN):
        hub.add_organisation("nova-ai", {OWNER: "admin"}, fullname="Nova")
        hub.add_user(VISITOR)
        hub.token(PORTER, "write")
        hub.token(PORTER, "read")
        hub.token(OWNER, "write")
        _benchmarks(hub)
        _peers(hub)
        _candidates(hub)
        _peculiar(hub)


def add_newcomers(hub: HubEmulator, count: int) -> None:
    """Let ``count`` new models of 7B come onto the board of CLIQuest 2.0 before all others: then ranks drift."""
    first = sum(repo.namespace == NEWCOMERS for repo in hub.state.repos("model"))
    with hub.at_once():
        for number in range(first, first + count):
            repo_id = f"{NEWCOMERS}/late-{number:02}"
            result = results_file("bench-org/cliquest-2", "cliquest_2", f"{61 + number / 10:.1f}")
            files = {"README.md": card(repo_id), ".eval_results/cliquest-2.yaml": result}
            hub.add_model(repo_id, files, parameters={"BF16": 7_000_000_000})


def results_file(dataset: str, task: str, value: float | str, *, notes: str = "", url: str = "") -> str:
    """A file of results with one entry; ``value`` as a text keeps its digits."""
    lines = ["- dataset:", f"    id: {dataset}", f"    task_id: {task}", f"  value: {value}"]
    lines += ["  source:", f"    url: {url}", "    name: Model Card"] if url else []
    return "\n".join([*lines, f'  notes: "{notes}"'] if notes else lines) + "\n"


def eval_file(name: str, *tasks: str, framework: str = "harbor") -> str:
    """The ``eval.yaml`` of a benchmark."""
    lines = [f"name: {name}", f"evaluation_framework: {framework}", "tasks:", *(f"  - id: '{task}'" for task in tasks)]
    return "\n".join(lines) + "\n"


def card(title: str, *lines: str, **metadata: str) -> str:
    """A README with its metadata."""
    head = ["---", "license: apache-2.0", *(f"{name}: {value}" for name, value in metadata.items()), "---"]
    return "\n".join([*head, f"# {title}", "", *lines]) + "\n"


def _benchmarks(hub: HubEmulator) -> None:
    for repo_id, name, tasks in (
        ("bench-org/logic-1k", "Logic-1k", ("logic_overall", "logic_hard")),
        ("bench-org/cliquest-2", "CLIQuest 2.0", ("cliquest_2",)),
        ("bench-org/fixit-verified", "Fixit Verified", ("fixit_%_resolved",)),
        ("sum-arena/sums_2026", "Sums 2026", ("sum-arena/sums_2026",)),
    ):
        hub.add_dataset(repo_id, {"eval.yaml": eval_file(name, *tasks), "README.md": card(name)}, official=True)
    wer = {"eval.yaml": eval_file("Open Speech", "mean_wer", "speed"), "README.md": card("Open Speech")}
    hub.add_dataset("hear-lab/open-speech", wer, official=True, lower=["mean_wer"])
    guarded = {"eval.yaml": eval_file("Last Quiz", "quiz"), "README.md": card("Last Quiz")}
    hub.add_dataset("bench-org/last-quiz", guarded, official=True, gated="auto", granted=[PORTER])
    listed = {"eval.yaml": eval_file("Almost", "almost"), "README.md": card("Almost a benchmark")}
    hub.add_dataset("bench-org/almost", listed)


def _peers(hub: HubEmulator) -> None:
    """Boards with more than the fifty rows that are shown, of models of several sizes."""
    for number in range(64):
        repo_id = f"peer-lab-{number % 8}/peer-{number:02}"
        files = {
            "README.md": card(repo_id, **({"base_model": "nova-ai/nova-7b"} if number % 5 == 4 else {})),
            ".eval_results/cliquest-2.yaml": results_file(
                "bench-org/cliquest-2", "cliquest_2", f"{60 - number / 2:.1f}"
            ),
        }
        if number < 12:
            files[".eval_results/logic-1k.yaml"] = results_file("bench-org/logic-1k", "logic_overall", 80 - 3 * number)
            files[".eval_results/open-speech.yaml"] = results_file("hear-lab/open-speech", "mean_wer", 5.5 + number / 4)
        size = (0.8, 2.5, 7, 14, 30, 70, 235, 700)[number % 8]
        with hub.at(_BEGIN + timedelta(days=number)):
            hub.add_model(repo_id, files, parameters={"BF16": round(size * 1e9)})


def _candidates(hub: HubEmulator) -> None:
    """Models whose results wait to be ported."""
    rows = ["| benchmark | Nova 7B | Other 7B† |", "|---|---|---|", "| Logic-1k | 61.25 | 58.10 |"]
    rows += ["| Sums 2026 | 44.90 | 47.30 |", "", "† measured by an independent index"]
    sentence = "On CLIQuest 2.0 it scores 38.75% (89/89 tasks, five trials each)."
    _model(hub, 70, "nova-ai/nova-7b", {"BF16": 7_600_000_000}, card("Nova 7B", sentence, "", *rows))
    sentence = "On CLIQuest 2.0 it scores 9.36%; with tools 19.365."
    shell = card("Nova Shell 27B", sentence, base_model="nova-ai/nova-27b")
    _model(hub, 75, "nova-ai/nova-shell-27b", {"BF16": 27_800_000_000}, shell)
    listener = card("Listener", "Mean WER on Open Speech: 6.05 (Listener v1: 7.03).")
    _model(hub, 80, "hear-lab/listener-large", {"F32": 1_540_000_000}, listener)
    _model(hub, 82, "nova-ai/nova-mystery", None, card("Mystery", "Logic-1k: 70.10", "", "Still training."))


def _peculiar(hub: HubEmulator) -> None:
    """What stands in the way elsewhere."""
    logic = results_file("bench-org/logic-1k", "logic_overall", 55.0)
    declared = _model(hub, 90, "nova-ai/nova-old", {"BF16": 3_000_000_000}, card("Nova Old", "Logic-1k: 55.0"))
    hub.commit(declared, {".eval_results/anything.yaml": logic}, title="Add results")
    edit = {".eval_results/anything.yaml": results_file("bench-org/logic-1k", "logic_overall", 57.5)}
    hub.open_pull_request(declared, edit, author=VISITOR, title="Correct the result of Logic-1k")
    rival = _model(hub, 91, "nova-ai/nova-next", {"BF16": 12_000_000_000}, card("Nova Next", "Logic-1k: 66.0"))
    files = {".eval_results/logic.yaml": results_file("bench-org/logic-1k", "logic_overall", 64.0)}
    hub.open_pull_request(rival, files, author=VISITOR, title="Add Logic-1k", body="From the paper.")
    disputed = _model(hub, 92, "nova-ai/nova-chat", {"BF16": 12_000_000_000}, card("Nova Chat", "Logic-1k: 68.0"))
    pull = hub.open_pull_request(disputed, files, author=VISITOR, title="Add Logic-1k")
    hub.comment(disputed, pull.num, "We do not recognise this score.", author=OWNER)
    hub.close_pull_request(disputed, pull.num, author=OWNER)
    hub.delete_ref(disputed, pull.num)
    broken = (
        "- dataset:\n    id: bench-org/logic-1k\n    task_id: logic_overall\n  value: 50\n  source:\n    url: null\n"
    )
    odd = _model(hub, 93, "nova-ai/nova-odd", {"BF16": 1_000_000_000}, card("Nova Odd", base_model="nova-ai/nova-odd"))
    hub.commit(odd, {".eval_results/logic.yaml": broken}, title="Add results")
    quiet = _model(hub, 94, "quiet-lab/quiet-7b", {"BF16": 7_000_000_000}, card("Quiet", "Logic-1k: 60.0"))
    hub.change(quiet, discussions_disabled=True)
    gated = _model(hub, 95, "guarded-lab/guarded-7b", {"BF16": 7_000_000_000}, card("Guarded", "Logic-1k: 60.0"))
    hub.change(gated, gated="manual")
    moved = _model(hub, 96, "nova-ai/nova-beta", {"BF16": 7_000_000_000}, card("Nova 8", "Logic-1k: 62.0"))
    hub.rename(moved, "nova-ai/nova-8b")
    _model(hub, 97, f"{VISITOR}/own-model", {"BF16": 7_000_000_000}, card("Own model", "Logic-1k: 90.0"))
    hub.change(_model(hub, 98, "nova-ai/nova-inside", None, card("Inside")), private=True)


def _model(hub: HubEmulator, day: int, repo_id: str, parameters: dict[str, int] | None, readme: str) -> Repo:
    with hub.at(_BEGIN + timedelta(days=day)):
        return hub.add_model(repo_id, {"README.md": readme}, parameters=parameters)
