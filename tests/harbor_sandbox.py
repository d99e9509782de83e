"""A place for real Harbor's trials without containers: a folder each, for tasks whose scripts know it as $SANDBOX.

Harbor imports this with a Python of its own, by ``environment.import_path``.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import tempfile
from pathlib import Path

from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import EnvironmentCapabilities, EnvironmentResourceCapabilities

_PLACES = ("logs", "tests", "solution", "app")
_OWN_PATH = re.compile(rf"(?<![\w./-])/(?={'|'.join(_PLACES)})")


class FolderSandbox(BaseEnvironment):
    """What is ``/logs`` in a container is ``logs`` in a folder, in Harbor's commands too."""

    @staticmethod
    def type() -> str:
        return "folder"

    @property
    def capabilities(self) -> EnvironmentCapabilities:
        return EnvironmentCapabilities(mounted=False)

    @classmethod
    def resource_capabilities(cls) -> EnvironmentResourceCapabilities:
        return EnvironmentResourceCapabilities(
            cpu_limit=True, cpu_request=True, memory_limit=True, memory_request=True, fractional_cpus=True
        )

    @classmethod
    def preflight(cls) -> None:
        return None

    def _validate_definition(self) -> None:
        return None

    async def start(self, force_build: bool) -> None:
        self._root = Path(tempfile.mkdtemp(prefix="sandbox-"))
        for place in (*_PLACES, "logs/agent", "logs/verifier", "logs/artifacts"):
            (self._root / place).mkdir()

    async def stop(self, delete: bool) -> None:
        shutil.rmtree(self._root, ignore_errors=True)

    async def upload_file(self, source_path, target_path) -> None:
        self._inside(target_path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source_path, self._inside(target_path))

    async def upload_dir(self, source_dir, target_dir) -> None:
        shutil.copytree(source_dir, self._inside(target_dir), dirs_exist_ok=True)

    async def download_file(self, source_path, target_path) -> None:
        Path(target_path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(self._inside(source_path), target_path)

    async def download_dir(self, source_dir, target_dir) -> None:
        shutil.copytree(self._inside(source_dir), target_dir, dirs_exist_ok=True)

    async def exec(self, command, cwd=None, env=None, timeout_sec=None, user=None) -> ExecResult:
        process = await asyncio.create_subprocess_exec(
            *("bash", "-c", _OWN_PATH.sub(f"{self._root}/", command)),
            cwd=self._inside(cwd or "/app"),
            env={**os.environ, **(self._merge_env(env) or {}), "SANDBOX": str(self._root)},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            out, err = await asyncio.wait_for(process.communicate(), timeout_sec)
        except (TimeoutError, asyncio.CancelledError):
            os.killpg(process.pid, signal.SIGKILL)
            raise
        return ExecResult(
            stdout=out.decode(errors="replace"), stderr=err.decode(errors="replace"), return_code=process.returncode
        )

    def _inside(self, path) -> Path:
        return self._root / str(path).lstrip("/")
