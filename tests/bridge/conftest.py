from pathlib import Path

import pytest


@pytest.fixture
def no_network(monkeypatch, tmp_path) -> Path:
    """No server answers and no cache of this machine is read; the folder of the empty caches."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TABARENA_CACHE", str(tmp_path / "tabarena"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "huggingface"))
    return tmp_path
