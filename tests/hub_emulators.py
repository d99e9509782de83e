"""An emulated Hub for a test, which the real client is sent to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchwright.rehearsal.hub import HubEmulator


@contextmanager
def emulated_hub(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[HubEmulator]:
    """The emulator, with the client sent to it. Nothing that it does not know may have been asked for at the end."""
    harnesses = folder / "harnesses.json"  # else newer clients ask for it in whatever test comes first
    harnesses.write_text('{"standardEnvVars": [], "harnesses": {}}')
    for name, value in {
        "AGENT_HARNESSES_PATH": str(harnesses),
        "HF_HOME": str(folder),
        "HF_HUB_DISABLE_XET": True,
        "HF_TOKEN_PATH": str(folder / "no-token"),
    }.items():
        patch.setattr(f"huggingface_hub.constants.{name}", value, raising=name != "AGENT_HARNESSES_PATH")
    for name in ("HF_ENDPOINT", "HF_TOKEN"):  # those of whoever runs the tests
        patch.delenv(name, raising=False)
    with HubEmulator(folder / "hub") as hub:
        template = hub.url + "/{repo_id}/resolve/{revision}/{filename}"  # the client makes it from HF_ENDPOINT
        patch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", template)
        patch.setattr("huggingface_hub.constants.ENDPOINT", hub.url)
        yield hub
        assert hub.unknown == []
