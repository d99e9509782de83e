"""Pull requests of results as `open_eval_prs.py` leaves them behind, on an emulated Hub and in a registry."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchwright.hub.entries import parse_entries
from benchwright.hub.links import view_link
from benchwright.hub.opening.words import Told, body_for, spec_hash, title_for
from benchwright.hub.registry import Record, RecordedResult, Registry
from benchwright.hub.views import DEFAULT, View
from benchwright.rehearsal.hub import HubEmulator, Repo
from benchwright.rehearsal.hub.sample import results_file

PORTER = "porter"
OWNER = "nova-keeper"
LOGIC = "bench-org/logic-1k"
NAMES = {"logic": "Logic-1k", "hard": "Logic-1k", "quest": "CLIQuest 2.0"}
DATASETS = {"logic": LOGIC, "hard": LOGIC, "quest": "bench-org/cliquest-2"}
SWEEP = Path(__file__).resolve().parents[2] / ".agents/skills/port-evals-to-hub/scripts/sweep_eval_prs.py"
B = 10**9
FIFTY = [str(90 - number / 10) for number in range(50)]
"""Values of as many models as a view shows."""


def only(envelope):
    """The one pull request of an answer."""
    (told,) = envelope["data"]["pull_requests"]
    return told


class Ported:
    """A registry and the pull requests that it has."""

    def __init__(self, emulator: HubEmulator, folder: Path) -> None:
        self.emulator = emulator
        self.path = folder / "reports" / "prs.json"
        self.ranks = folder / "reports" / "hf-eval-results-ranks.csv"
        self.registry = Registry(self.path)

    def open(self, repo: Repo, values: dict[str, str], view: View = DEFAULT, files: Sequence[str] = ()) -> int:
        """Open a pull request with a value a task, each in a file of its own; returns its number."""
        results, contents = [], {}
        for number, (task, value) in enumerate(values.items()):
            name = f".eval_results/{[*files, *values][number] if files else task}.yaml"
            link = view_link(DATASETS[task], task, view, repo.id, endpoint=self.emulator.url)
            contents[name] = contents.get(name, "") + results_file(DATASETS[task], task, value)
            results.append(RecordedResult(DATASETS[task], task, name, value, link))
        digits = spec_hash(one for text in contents.values() for one in parse_entries(text))
        names = [NAMES[task] for task in values]
        told = [Told(name, one.link, "the model card") for name, one in zip(names, results, strict=True)]
        title = title_for(names)
        pull = self.emulator.open_pull_request(repo, contents, author=PORTER, title=title, body=body_for(told, digits))
        url = f"{self.emulator.url}/{repo.id}/discussions/{pull.num}"
        self.registry.put(
            Record(repo.id, digits, "open", title, tuple(results), pull.num, url, PORTER, pull.head, pull.date)
        )
        return pull.num

    def pull(self, repo: Repo, num: int):
        return next(one for one in repo.discussions if one.num == num)

    def body(self, repo: Repo, num: int) -> str:
        return self.pull(repo, num).events[0].data["latest"]["raw"]

    def files(self, repo: Repo, num: int) -> dict[str, str]:
        """The result files at a pull request."""
        files = repo.commits[self.pull(repo, num).head].files
        return {name: repo.blobs[one.oid].decode() for name, one in files.items() if name.startswith(".eval_results/")}

    def state(self, repo: Repo, num: int):
        """What others see of a pull request, and what the registry has of it; without ids and times."""
        pull = self.pull(repo, num)
        comments = [one.data["latest"]["raw"] for one in pull.events if one.type == "comment"]
        record = next(one for one in Registry.load(self.path).records if one.repo == repo.id)
        return pull.status, pull.title, comments, self.files(repo, num), record.state, record.results
