"""The checkout around a file, and git asked about it."""

from __future__ import annotations

import subprocess

from benchwright.files import checkout


def test_the_nearest_checkout_counts(tmp_path):
    inner = tmp_path / "outer" / "packages" / "inner"
    (inner / "src").mkdir(parents=True)
    assert checkout.checkout_around(inner / "src") == inner / "src"
    (tmp_path / "outer" / ".git").mkdir()
    assert checkout.checkout_around(inner / "src") == tmp_path / "outer"
    (inner / ".git").write_text("gitdir: elsewhere\n")  # a worktree's
    assert checkout.checkout_around(inner) == inner


def test_git_prints_or_is_silent(tmp_path, monkeypatch):
    assert checkout.git(tmp_path, "rev-parse", "HEAD") is None
    assert checkout.git(tmp_path / "nowhere", "status") is None
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "name").write_bytes(b"\xff")
    assert checkout.git(tmp_path, "status", "--porcelain") == b"?? name\n"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert checkout.git(tmp_path, "status") is None


def test_git_that_does_not_end_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(checkout, "_SECONDS", 0.2)
    assert checkout.git(tmp_path, "-c", "alias.wait=!exec sleep 60", "wait") is None
