"""A stand-in for the Hub, with the few calls that reading a dataset takes. It is not the Hub: what it does not know
it refuses and notes, so that a call nobody planned fails."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

from benchwright.rehearsal.line_server import LineHandler, LineServer

TOKEN = "a-token-of-the-stand-in"
_API, _FILES, _ELSEWHERE = "/api/datasets/", "/datasets/", "/elsewhere/"


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: dict[str, str]
    range: str | None
    token: str | None


@dataclass(frozen=True)
class Answer:
    """A status of 0 breaks the line off."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


def refusal(status: int, code: str | None = None, message: str | None = None, **headers: str) -> Answer:
    said = {"X-Error-Code": code, "X-Error-Message": message}
    return Answer(status, b'{"error": "no"}', {name: one for name, one in said.items() if one} | headers)


def parquet(trials: Iterable[str | None], *, column: str = "trial_name") -> bytes:
    """A file of traces: a row for each trial, with a conversation that is most of it."""
    names = list(trials)
    rows = {
        "conversations": [[{"role": "user", "content": f"{name}: {'x' * 3000}"}] for name in names],
        column: names,
        "result": ["1.0"] * len(names),
    }
    schema = pa.schema(
        [
            ("conversations", pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))),
            (column, pa.string()),
            ("result", pa.string()),
        ]
    )
    file = pa.BufferOutputStream()
    pq.write_table(pa.table(rows, schema=schema), file, row_group_size=100, compression="none", use_dictionary=False)
    return file.getvalue().to_pybytes()


class HubStandIn:
    """``repos`` have the files of each; those in ``private`` are there for the token alone.

    ``seen`` are all requests, ``unknown`` what was refused for not being known. ``fault`` may answer one instead.
    ``page`` is how many entries a listing has at once; files are served from another path, as the Hub's are from a CDN.
    """

    def __init__(self) -> None:
        self.repos: dict[str, dict[str, bytes]] = {}
        self.private: set[str] = set()
        self.seen: list[Request] = []
        self.unknown: list[str] = []
        self.fault: Callable[[Request], Answer | None] | None = None
        self.page = 1000
        self._server = _Server(self)
        self.url = self._server.url
        self._server.start()

    def empty(self) -> None:
        self.repos, self.private, self.seen, self.unknown, self.fault, self.page = {}, set(), [], [], None, 1000

    def add(self, repo: str, *trials: Iterable[str | None]) -> None:
        """A repo with a file for each list of trials."""
        files = {f"data/train-{number:05}.parquet": parquet(names) for number, names in enumerate(trials)}
        self.repos[repo] = {".gitattributes": b"x", "README.md": b"y", **files}

    def stop(self) -> None:
        self._server.stop()

    def answer(self, request: Request) -> Answer:
        if request.token not in (None, TOKEN):
            return refusal(401, message="Invalid credentials in Authorization header")
        if request.method != "GET":
            return self._refused(f"{request.method} {request.path}")
        if request.path.startswith(_ELSEWHERE):
            return self._file(request, request.path.removeprefix(_ELSEWHERE))
        listing, _, rest = request.path.removeprefix(_API).partition("/tree/")
        if request.path.startswith(_API) and rest == "main":
            return self._listing(request, listing)
        repo, _, path = request.path.removeprefix(_FILES).partition("/resolve/main/")
        if request.path.startswith(_FILES) and path:
            lacking = self._lacking(request, repo)
            return lacking or Answer(302, b"", {"Location": f"{_ELSEWHERE}{repo}/{path}"})
        return self._refused(f"{request.method} {request.path}")

    def _listing(self, request: Request, repo: str) -> Answer:
        if set(request.query) - {"recursive", "cursor"} or request.query.get("recursive") != "true":
            return self._refused(f"{request.path} with {request.query}")
        if (lacking := self._lacking(request, repo)) is not None:
            return lacking
        files = sorted(self.repos[repo].items())
        start = int(request.query.get("cursor", 0))
        entries: list[dict[str, Any]] = [{"type": "directory", "path": "data", "oid": "0", "size": 0}]
        entries += [{"type": "file", "path": path, "oid": "0", "size": len(data)} for path, data in files]
        headers = {}
        if start + self.page < len(entries):
            after = f"https://huggingface.co{_API}{repo}/tree/main?recursive=true&cursor={start + self.page}"
            headers["Link"] = f'<{after}>; rel="next"'
        return Answer(200, json.dumps(entries[start : start + self.page]).encode(), headers)

    def _lacking(self, request: Request, repo: str) -> Answer | None:
        if repo in self.repos and (repo not in self.private or request.token == TOKEN):
            return None
        if request.token is None:
            return refusal(401, "RepoNotFound", "Invalid username or password.")
        return refusal(404, "RepoNotFound", "Repository not found")

    def _file(self, request: Request, place: str) -> Answer:
        owner, name, path = place.split("/", 2)
        data = self.repos[f"{owner}/{name}"][path]
        if request.range is None:
            return self._refused(f"all of {path}")
        first, last = map(int, request.range.removeprefix("bytes=").split("-"))
        part = data[first : last + 1]
        return Answer(206, part, {"Content-Range": f"bytes {first}-{first + len(part) - 1}/{len(data)}"})

    def _refused(self, what: str) -> Answer:
        self.unknown.append(what)
        return Answer(501, b"the stand-in does not know this")


class _Server(LineServer):
    def __init__(self, standin: HubStandIn) -> None:
        super().__init__(_Handler)
        self.standin = standin


class _Handler(LineHandler):
    server: _Server

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ") or None
        query = dict(parse_qsl(address.query))
        request = Request(self.command, unquote(address.path), query, self.headers.get("Range"), token)
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        standin = self.server.standin
        standin.seen.append(request)
        answer = (standin.fault(request) if standin.fault else None) or standin.answer(request)
        if answer.status == 0:
            self.break_off()
            return
        self.send_response(answer.status)
        for name, value in {**answer.headers, "Content-Length": str(len(answer.body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)

    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_GET
