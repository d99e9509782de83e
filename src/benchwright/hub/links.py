"""Links to a view of a leaderboard, with a model's row highlighted."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

from benchwright.hub.views import TIERS, View

PUBLIC_HUB = "https://huggingface.co"
_PREFIX = "leaderboard_"


@dataclass(frozen=True)
class ViewLink:
    """What a link says: the benchmark, its task, the view, and the model whose row is highlighted."""

    dataset: str
    task: str | None
    view: View
    model: str | None


def view_link(dataset: str, task: str, view: View, model: str | None = None, *, endpoint: str = PUBLIC_HUB) -> str:
    """The address of a view on the benchmark's page; every value is encoded once, also a ``%`` of a task's id."""
    words = {"eval_result": model, f"{_PREFIX}task_id": task, f"{_PREFIX}max_params": view.max_params}
    told = {name: value for name, value in words.items() if value is not None}
    if not view.base_only:
        told[f"{_PREFIX}base_model"] = "false"
    return f"{endpoint}/datasets/{quote(dataset)}?{urlencode(told, quote_via=quote, safe='/')}"


def read_link(url: str) -> ViewLink | None:
    """What `view_link` put into an address; None for any other address."""
    parts = urlsplit(url)
    place = unquote(parts.path).strip("/").split("/")
    words = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    size = words.get(f"{_PREFIX}max_params")
    if len(place) != 3 or place[0] != "datasets" or not (size is None or size in TIERS):
        return None
    if not words.keys() & {"eval_result", f"{_PREFIX}task_id"}:
        return None
    view = View(size, words.get(f"{_PREFIX}base_model") != "false")
    return ViewLink("/".join(place[1:]), words.get(f"{_PREFIX}task_id"), view, words.get("eval_result"))
