"""``python -m benchwright.rehearsal.hub`` with its sample state, and what a kill leaves of it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys

import httpx
import pytest

from waiting import PATIENCE


class Served:
    def __init__(self, folder, *options):
        command = [sys.executable, "-m", "benchwright.rehearsal.hub", "--state", folder, *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.said = ""
        while "HF_HUB_DISABLE_XET" not in self.said or ("porter" not in self.said and "--empty" not in options):
            line = self.process.stdout.readline()
            assert line, f"it ended with {self.process.wait()}"
            self.said += line
        self.url = re.search(r"HF_ENDPOINT=(\S+)", self.said)[1]

    def ask(self, path, token=None):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx.get(self.url + path, headers=headers)

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.process.communicate(timeout=PATIENCE)
        return self.process.returncode


@pytest.fixture
def serve(tmp_path):
    running = []

    def start(*options):
        running.append(Served(tmp_path / "state", *options))
        return running[-1]

    yield start
    for one in running:
        one.process.kill()
        one.process.communicate()


def test_the_sample_state_survives_a_kill(serve):
    first = serve()
    token = re.search(r"HF_TOKEN=(\S+)  # porter, who may write", first.said)[1]
    assert first.ask("/api/whoami-v2", token).json()["name"] == "porter"
    benchmarks = [one["id"] for one in first.ask("/api/datasets?filter=benchmark:official").json()]
    assert len(benchmarks) == 6
    boards = {one: first.ask(f"/api/datasets/{one}/leaderboard?base_model=false", token).json() for one in benchmarks}
    assert {one: len(rows) for one, rows in boards.items()} == {
        "bench-org/cliquest-2": 64,
        "bench-org/logic-1k": 14,
        "hear-lab/open-speech": 12,
        "bench-org/fixit-verified": 0,
        "sum-arena/sums_2026": 0,
        "bench-org/last-quiz": 0,
    }
    body = '{"key":"header","value":{"summary":"Add"}}'
    headers = {"Authorization": f"Bearer {token}"}
    httpx.post(f"{first.url}/api/models/nova-ai/nova-7b/commit/main?create_pr=1", content=body, headers=headers)
    assert first.stop(signal.SIGKILL) == -signal.SIGKILL
    second = serve("--newcomers", "3")
    assert token in second.said
    assert len(second.ask("/api/datasets/bench-org/cliquest-2/leaderboard?base_model=false").json()) == 64 + 3
    assert second.ask("/api/models/nova-ai/nova-7b/discussions/1").json()["author"]["name"] == "porter"
    assert second.ask("/api/models/nova-ai/nova-beta").status_code == 307
    assert second.ask("/api/models/quiet-lab/quiet-7b/discussions").status_code == 403
    assert second.ask("/guarded-lab/guarded-7b/resolve/main/README.md").headers["X-Error-Code"] == "GatedRepo"
    assert second.stop() == 0


def test_limits_and_faults_of_the_command_line(serve, tmp_path):
    rules = tmp_path / "rules.json"
    rules.write_text('[{"kind": "error", "status": 503, "path": "/api/models"}]')
    hub = serve("--empty", "--limit", "api=2/1000000000", "--faults", str(rules))
    assert [hub.ask("/api/models").status_code for _ in range(4)] == [503, 200, 200, 429]
    assert hub.stop(signal.SIGINT) == 0


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--limit", "api=fast"], "--limit api=fast: not KIND=N/SECONDS with a known kind"),
        (["--limit", "odd=1/2"], "--limit odd=1/2: not KIND=N/SECONDS with a known kind"),
        (["--faults", "none.json"], "--faults: [Errno 2] No such file or directory: 'none.json'"),
    ],
)
def test_wrong_usage(tmp_path, options, problem):
    command = [sys.executable, "-m", "benchwright.rehearsal.hub", "--state", tmp_path / "state", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert problem in done.stderr


def test_a_port_or_a_folder_that_is_taken(serve, tmp_path):
    hub = serve("--empty")
    command = [sys.executable, "-m", "benchwright.rehearsal.hub", "--state"]
    other = [*command, tmp_path / "other", "--port", hub.url.rpartition(":")[2]]
    done = subprocess.run(other, capture_output=True, text=True, check=False)
    assert "Address already in use" in done.stderr
    assert done.returncode == 3
    done = subprocess.run([*command, tmp_path / "state"], capture_output=True, text=True, check=False)
    assert "is at work here" in done.stderr
    assert done.returncode == 5


def test_what_it_prints_may_be_pasted_into_a_shell(tmp_path):
    hub = Served(tmp_path / "a state")
    lines = [hub.process.stdout.readline() for _ in range(2)]
    hub.stop(signal.SIGKILL)
    pasted = f"{hub.said}{''.join(lines)}".partition("\n\n")[2]
    shown = subprocess.run(
        ["bash", "-c", f"{pasted}\necho $HF_TOKEN $HF_HOME"], capture_output=True, text=True, check=True
    )
    token = re.search(r"HF_TOKEN=(\S+)  # porter, who may write", hub.said)[1]
    assert (shown.stdout, shown.stderr) == (f"{token} {tmp_path}/a state/client\n", "")
