"""Where the traces of a run may be on the Hub, by the names that their uploaders give."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

ORGS_VARIABLE = "BENCHWRIGHT_TRACE_ORGS"
"""Holds the organisations on the Hub that traces are uploaded to, separated by commas or spaces."""
_LONGEST = 96
"""Characters that the Hub takes for a repo's id, organisation and all."""
_DIGEST = 8
_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_SUFFIXES = ("-traces", "")
"""Those who push by hand add the first; batch scripts none."""


def trace_orgs(settings: Mapping[str, str]) -> tuple[str, ...]:
    """The organisations that traces are uploaded to, in the order in which they are named."""
    return tuple(dict.fromkeys(name for name in re.split(r"[,\s]+", settings.get(ORGS_VARIABLE, "")) if name))


def candidates(run_names: Iterable[str], orgs: Iterable[str]) -> tuple[str, ...]:
    """The repos that a run's traces may be in, in an order that does not change."""
    names = list(dict.fromkeys(run_names))
    return tuple(
        dict.fromkeys(repo_id(org, f"{name}{suffix}") for org in orgs for name in names for suffix in _SUFFIXES)
    )


def repo_id(org: str, name: str) -> str:
    """The repo's id that uploaders make of a run's name: signs replaced, and cut to what the Hub takes.

    A name that is too long ends in eight digits of the SHA-1 of the whole, so that no two become one.
    """
    name = _collapsed(re.sub(r"[^A-Za-z0-9._-]", "-", name)).strip("-.") or "repo"
    most = _LONGEST - len(org) - 1
    if len(name) > most > _DIGEST:
        digest = hashlib.sha1(name.encode(), usedforsecurity=False).hexdigest()[:_DIGEST]
        name = _collapsed((name[: most - _DIGEST].rstrip("-.") or "r") + digest).strip("-.")
    return f"{org}/{name}"


def repo_of_link(link: str) -> str | None:
    """The repo, as ``ORG/NAME``, that a link or an id is of, whatever host, revision or file it goes on to; else None.

    A link without ``/datasets/`` is one to a model, and none to traces.
    """
    link = link.strip()
    path = urlsplit(link).path if "://" in link else link
    parts = [part for part in path.split("/") if part]
    if "://" not in link and parts[1:2] == ["datasets"]:  # a host without its scheme
        parts = parts[1:]
    if "://" in link or parts[:1] == ["datasets"]:
        if parts[:1] != ["datasets"]:
            return None
        parts = parts[1:3]
    return "/".join(parts) if len(parts) == 2 and all(map(_PART.fullmatch, parts)) else None


def _collapsed(name: str) -> str:
    while "--" in name or ".." in name:
        name = name.replace("--", "-").replace("..", ".")
    return name
