"""Lists of candidates for tests: a mapping of the emulator's benchmarks, CSV files of results, the scripts."""

from __future__ import annotations

import csv
from pathlib import Path

from benchwright.hub.candidates.options import SearchOptions
from benchwright.hub.candidates.rows import COLUMNS
from benchwright.hub.candidates.search import find_candidates
from benchwright.hub.client import HubPatience
from scripts_in_process import load

SCRIPTS = Path(__file__).resolve().parents[1] / ".agents" / "skills" / "port-evals-to-hub" / "scripts"
SOON = HubPatience(attempts=3, first_wait=0.01, longest_wait=0.05, timeout=5)
MAPPING = """
- {dataset: bench-org/logic-1k, task: logic, names: [Logic-1k], metric: "accuracy|acc"}
- {dataset: bench-org/logic-1k, task: hard, names: [Logic-1k], metric: "time"}
- {dataset: bench-org/quiz, names: [Quiz], metric: "accuracy", convert: x100}
"""
VIEW = ("result_id", "hf_model_url", "dataset_slug", "metric_name", "value_text", "published", "source_url")


def write_csv(path: Path, *rows: dict[str, str], columns: tuple[str, ...] = ()) -> Path:
    """A CSV with these rows."""
    columns = columns or tuple(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, columns)
        table.writeheader()
        table.writerows(rows)
    return path


def result(model: str, value: str = "61.25", slug: str = "logic-1k", metric: str = "accuracy", **more: str):
    """A row of a CSV of results."""
    return {"hf_model_url": model, "dataset_slug": slug, "metric_name": metric, "value_text": value, **more}


def read_csv(path: Path) -> list[dict[str, str]]:
    """The rows of a list, as a spreadsheet reads them."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert all(tuple(row) == COLUMNS for row in rows)
    return rows


class Lists:
    """Searches below a folder, patient for as long as tests are."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.mapping = folder / "mapping.yaml"
        self.mapping.write_text(MAPPING)
        self.talk: list[str] = []
        self.shown: list[tuple[int, int, int]] = []

    def search(self, *results: dict[str, str], name: str = "out.csv", settings=None, **options):
        """The outcome of a search, and the rows of its list."""
        if results:
            options |= {"source": "csv", "models": write_csv(self.folder / f"in-{name}", *results)}
        out = self.folder / name
        made = SearchOptions(out=out, mapping=self.mapping, patience=SOON, pause=0, **options)
        outcome = find_candidates(made, settings or {}, talk=self.talk.append, progress=self._progress)
        return outcome, read_csv(out)

    def statuses(self, *results: dict[str, str], **more) -> list[tuple[str, str]]:
        """Status and reason of each row."""
        return [(row["status"], row["reason"]) for row in self.search(*results, **more)[1]]

    def _progress(self, label: str):
        from contextlib import contextmanager

        @contextmanager
        def showing():
            yield lambda done, total, *, failed=0, note="": self.shown.append((done, total, failed))

        return showing()


def script(name: str):
    """A script of the skill."""
    return load(SCRIPTS / f"{name}.py")
