"""The runner's end of the fork server: start it, ask it, hear from it, and know when it is gone."""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchwright.node.wire import Lines, send

_POLL_S = 1.0
_ROUNDS_FOR_LAST_WORDS = 10
_SECONDS_TO_END = 30.0


class ServerUnusable(Exception):
    """No item can run: the server cannot start or cannot import what the items need.

    ``exit`` is its exit code in the shell's convention, where it ended by itself.
    """

    def __init__(self, message: str, exit: int | None = None) -> None:
        self.exit = exit
        super().__init__(message)


class ServerLost(Exception):
    """The server ended by itself while it was in use; ``exit`` is its exit code in the shell's convention."""

    def __init__(self, exit: int) -> None:
        self.exit = exit
        how = f"signal {exit - 128}" if exit > 128 else f"exit {exit}"
        super().__init__(f"the fork server ended ({how})")


class ForkServer:
    """A running fork server under the Python ``python``; ``log`` takes what the imports print, else our own output.

    Raises:
        ServerUnusable: ``python`` cannot be started. That imports fail shows in ``poll``, since they take seconds.
    """

    def __init__(self, python: str, entry: str, preload: str | None = None, log: Path | None = None) -> None:
        # A relative path would be looked up from the folder the server starts in.
        self.python = os.path.abspath(python) if os.sep in python else python  # noqa: PTH100
        reading, writing = os.pipe()
        command = [self.python, "-m", "benchwright.node.fork_server", "--entry", entry, "--replies", str(writing)]
        if preload:
            command += ["--preload", preload]
        sys.stdout.flush()
        with contextlib.ExitStack() as stack:
            output = stack.enter_context(log.open("ab")) if log else None
            try:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=output,
                    stderr=subprocess.STDOUT if output else None,
                    pass_fds=[writing],
                    # "-m" puts the current folder before the standard library; nobody's files lie in the root.
                    cwd="/",
                    env=_environment(),
                    start_new_session=True,
                )
            except OSError as error:
                os.close(reading)
                raise ServerUnusable(f"{python} cannot be started ({error.strerror})") from None
            finally:
                os.close(writing)
        self._replies = Lines(reading)
        self.ready = False
        self._log = log
        self._unheard = 0

    def submit(self, request: dict[str, Any]) -> None:
        """Ask for an item to be run (``ItemRequest``'s fields). A server that is gone shows in ``poll``."""
        self._send(request)

    def kill(self, item: int) -> None:
        """Ask for an item to be ended, with everything it started; it will be reported as ended."""
        self._send({"kill": item})

    def poll(self, also: int | None = None) -> list[dict[str, Any]]:
        """Wait for messages, or until the handle ``also`` is readable, a second at most; what came, perhaps nothing.

        Raises:
            ServerUnusable: the imports failed, or the server ended before it was ready.
            ServerLost: the server ended later. Its items are ended, too.
        """
        with selectors.DefaultSelector() as selector:
            selector.register(self._replies.handle, selectors.EVENT_READ)
            if also is not None:
                selector.register(also, selectors.EVENT_READ)
            ready = {key.fd for key, _ in selector.select(_POLL_S)}
        if self._replies.handle not in ready:
            self._notice_silence()
            return []
        messages = self._replies.read()
        if messages is None:
            self._gone()
        return [message for message in messages or [] if not self._is_state(message)]

    def close(self) -> None:
        """End the server and everything it runs."""
        if not self.ready:
            self._process.terminate()  # it reads nothing while it imports
        if self._process.stdin:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        try:
            self._process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        with contextlib.suppress(OSError):
            os.close(self._replies.handle)

    def _send(self, message: dict[str, Any]) -> None:
        if self._process.stdin:
            with contextlib.suppress(BrokenPipeError):
                send(self._process.stdin.fileno(), message)

    def _is_state(self, message: dict[str, Any]) -> bool:
        """Take note of a message about the server itself."""
        if message["event"] == "unusable":
            where = f"; the traceback is in {self._log}" if self._log else ""
            raise ServerUnusable(f"{self.python} cannot import what the items need: {message['error']}{where}")
        if message["event"] == "ready":
            self.ready = True
            return True
        return False

    def _notice_silence(self) -> None:
        """Give up on a server that ended although something still holds the reply pipe open."""
        if self._process.poll() is None:
            return
        self._unheard += 1
        if self._unheard > _ROUNDS_FOR_LAST_WORDS:
            self._gone()

    def _gone(self) -> None:
        self._process.wait()
        code = self._process.returncode
        code = 128 - code if code < 0 else code
        if self.ready:
            raise ServerLost(code)
        where = f"; see {self._log}" if self._log else ""
        raise ServerUnusable(
            f"the fork server under {self.python} ended (exit {code}) before it was ready{where}", code
        )


def _environment() -> dict[str, str]:
    """The server's environment: ours, with what every fit wants and no path that depends on the current folder."""
    environment = dict(os.environ, PYTHONUNBUFFERED="1")
    environment.setdefault("TABPFN_DISABLE_TELEMETRY", "1")
    environment.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    if environment.get("PYTHONPATH"):
        paths = environment["PYTHONPATH"].split(os.pathsep)
        environment["PYTHONPATH"] = os.pathsep.join(os.path.abspath(path) for path in paths)  # noqa: PTH100
    return environment
