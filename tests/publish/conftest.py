"""An artifact to publish, and the stores it goes to."""

from __future__ import annotations

import pytest

from benchwright.objects import open_store
from benchwright.objects.location import StoreLocation
from benchwright.publish.upload_plan import plan_upload
from published_artifacts import opened, recorded


@pytest.fixture
def store(tmp_path):
    """An empty folder store."""
    return open_store(f"local:{tmp_path / 'a store'}")


@pytest.fixture
def planned(tmp_path):
    """Plans of uploads to a store: of one artifact, which ``change`` makes another one."""

    def plan(store, change=None, *, upload_raw=True, **declared):
        cache = tmp_path / f"cache of {change.__name__ if change else 'none'}"
        if not cache.exists():
            folder = recorded(cache)
            if change is not None:
                change(folder)
        return plan_upload(opened(cache, **declared), StoreLocation.parse(store.url), upload_raw=upload_raw)

    return plan
