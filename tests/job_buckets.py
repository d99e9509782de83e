"""Buckets with folders of jobs in them, at real servers behind ways that list what is asked of them."""

from __future__ import annotations

import contextlib
import http.client
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchwright.audit.iris_results import Buckets
from benchwright.objects import ObjectStore, open_reader, open_store
from object_servers import QUICK, FaultyGoogle, FaultyServer, settings, stopped_at_end


class SeaweedWay(FaultyServer):
    """A way to a SeaweedFS server that changes nothing: requests are signed with the way's own name and port."""

    def __init__(self, behind: str) -> None:
        super().__init__(self._pass_on)
        self._behind = urlsplit(behind).netloc

    def _pass_on(self, environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        there = http.client.HTTPConnection(self._behind, timeout=30)
        there.putrequest(environ["REQUEST_METHOD"], environ["REQUEST_URI"], skip_host=True, skip_accept_encoding=True)
        for name, value in environ.items():
            if name.startswith("HTTP_"):
                there.putheader(name.removeprefix("HTTP_").replace("_", "-"), value)
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        there.endheaders(body)
        answer = there.getresponse()
        content = answer.read()
        dropped = {"connection", "transfer-encoding", "date", "server"}
        headers = [pair for pair in answer.getheaders() if pair[0].lower() not in dropped]
        start(f"{answer.status} {answer.reason}", headers)
        there.close()
        return [content]


@dataclass(frozen=True)
class JobServers:
    """The two servers and the ways to them. The clients are made once: each takes a third of a second."""

    google: FaultyServer
    seaweed: FaultyServer
    stores: dict[str, ObjectStore]
    """The buckets themselves, without a way between."""
    readers: dict[str, Any]

    @property
    def settings(self) -> dict[str, str]:
        """What the ways are asked with."""
        return settings(self.seaweed.url) | {"STORAGE_EMULATOR_HOST": self.google.url}


@contextlib.contextmanager
def job_servers(google: Any, seaweed: Any) -> Iterator[JobServers]:
    """Ways to the two servers."""
    direct = settings(seaweed.url) | {"STORAGE_EMULATOR_HOST": google.url}
    stores = {kind: open_store(f"{kind}://results", settings=direct, patience=QUICK) for kind in ("gs", "s3")}
    with stopped_at_end(FaultyGoogle(google.url)) as way, stopped_at_end(SeaweedWay(seaweed.url)) as other:
        servers = JobServers(way, other, stores, {})
        for kind in stores:
            servers.readers[kind] = open_reader(f"{kind}://results", settings=servers.settings, patience=QUICK)
        yield servers


class JobBuckets:
    """Places in the buckets that no other test uses: ``tpu`` at Google Cloud, ``gpu`` at S3."""

    def __init__(self, servers: JobServers) -> None:
        self.servers = servers
        self.tpu, self.gpu = f"gs://results/{uuid.uuid4()}", f"s3://results/{uuid.uuid4()}"
        for way in (servers.google, servers.seaweed):
            way.fault = None
            way.seen.clear()

    def put(self, folder: Path, address: str, *, files: tuple[str, ...] = ("result.json", "*/result.json")) -> None:
        """Put files of a folder at an address."""
        kind, path = address[:2], address.partition("results/")[2]
        found = [file for pattern in files for file in folder.glob(pattern) if file.is_file()]
        with ThreadPoolExecutor(4) as pool:
            keys = [f"{path}/{file.relative_to(folder)}" for file in found]
            list(pool.map(self.servers.stores[kind].put, keys, [file.read_bytes() for file in found]))

    def at(self, *addresses: str) -> Buckets:
        """The buckets at some addresses, by the clients that are there where they serve."""
        return Buckets(tuple(map(self._reader, addresses)))

    def _reader(self, address: str) -> Any:
        kind, _, rest = address.partition("://")
        bucket, _, prefix = rest.partition("/")
        if bucket != "results":
            return open_reader(address, settings=self.servers.settings, patience=QUICK)
        reader = self.servers.readers[kind]
        return type(reader)(reader._bucket, prefix)

    @property
    def methods(self) -> set[str]:
        """How the servers were asked through the ways."""
        return {line.split()[0] for way in (self.servers.google, self.servers.seaweed) for line in way.seen}
