"""A small stand-in for the Hugging Face Hub on localhost: the calls that its client makes to read and to publish."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from huggingface_hub import constants

TOKEN = "hf_of_the_tests"


@dataclass
class Repository:
    """Commits of files, and the branches and tags that name some of them."""

    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    def commit(self, files: dict[str, bytes], name: str = "main") -> str:
        sha = hashlib.sha1(repr((len(self.commits), sorted(files))).encode()).hexdigest()
        self.commits[sha] = files
        self.names[name] = sha
        return sha

    def sha(self, revision: str) -> str | None:
        return revision if revision in self.commits else self.names.get(revision)


@dataclass
class Hub:
    """What lies on the stand-in, what was asked of it, and what it does wrong.

    Attributes:
        break_off: paths of which the connection breaks off in the middle, as often as is said.
        replaced: paths of which other bytes of the same length are sent, as often as is said.
    """

    url: str = ""
    repositories: dict[str, Repository] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    break_off: dict[str, int] = field(default_factory=dict)
    replaced: dict[str, int] = field(default_factory=dict)

    def put(self, repo: str, folder: Path, name: str = "main") -> str:
        """Commit the files of a folder."""
        files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        return self.repositories.setdefault(repo, Repository()).commit(files, name)

    def files_asked(self) -> list[str]:
        """Paths of the files that were fetched."""
        return [
            what.partition("/resolve/")[2].partition("/")[2]
            for what in self.asked
            if what.startswith("GET") and "/resolve/" in what
        ]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _send(self, body: bytes, code: int = 200, broken: bool = False, **headers: str) -> None:
        self.send_response(code)
        for name, value in {"Content-Length": str(len(body)), "Content-Type": "application/json", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[: len(body) // 2] if broken else body)
        if broken:
            self.wfile.flush()
            self.connection.close()
            self.close_connection = True

    def _json(self, data: object, code: int = 200, **headers: str) -> None:
        self._send(json.dumps(data).encode(), code, **headers)

    def _missing(self, kind: str) -> None:
        self._json({"error": kind}, 404, X_Error_Code=kind, X_Error_Message=kind)

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        self.hub.asked.append(f"{self.command} {path}")
        parts = path.strip("/").split("/")
        api = parts[:2] == ["api", "models"]
        repo = "/".join(parts[2:4] if api else parts[:2])
        kind, *rest = (parts[4:] if api else parts[2:]) or ["revision"]
        if repo not in self.hub.repositories:
            return self._missing("RepoNotFound")
        repository = self.hub.repositories[repo]
        sha = repository.sha(rest[0] if rest else "main")
        if sha is None:
            return self._missing("RevisionNotFound")
        files = repository.commits[sha]
        if kind == "tree":
            return self._json([{"type": "file", "path": n, "size": len(c), "oid": _oid(c)} for n, c in files.items()])
        if kind == "resolve":
            return self._file(files, "/".join(rest[1:]), sha)
        return self._json({"id": repo, "modelId": repo, "sha": sha, "private": False, "tags": [], "downloads": 0,
                           "siblings": [{"rfilename": name} for name in files]})  # fmt: skip

    do_HEAD = do_GET

    def _file(self, files: dict[str, bytes], name: str, sha: str) -> None:
        if name not in files:
            return self._missing("EntryNotFound")
        body, headers = files[name], {"ETag": f'"{_oid(files[name])}"', "X_Repo_Commit": sha, "Accept_Ranges": "bytes"}
        if self.command == "GET" and self.hub.replaced.get(name, 0) > 0:
            self.hub.replaced[name] -= 1
            body = bytes(reversed(body))
        broken = self.command == "GET" and self.hub.break_off.get(name, 0) > 0
        if broken:
            self.hub.break_off[name] -= 1
        first = self.headers.get("Range", "bytes=0-").removeprefix("bytes=").partition("-")[0]
        if int(first or 0):
            headers["Content_Range"] = f"bytes {first}-{len(body) - 1}/{len(body)}"
            return self._send(body[int(first) :], 206, broken, **headers)
        return self._send(body, 200, broken, **headers)

    def do_POST(self) -> None:
        path = unquote(urlsplit(self.path).path)
        self.hub.asked.append(f"POST {path}")
        if self.headers.get("Transfer-Encoding") == "chunked":
            sent = b"".join(self._chunks())
        else:
            sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if path == "/api/validate-yaml":
            return self._json({"errors": [], "warnings": []})
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self._json({"error": "Invalid username or password."}, 401)
        if path == "/api/repos/create":
            asked = json.loads(sent)
            repo = f"{asked.get('organization') or 'somebody'}/{asked['name']}"
            if repo in self.hub.repositories:
                return self._json({"error": "You already created this model repo"}, 409)
            self.hub.repositories[repo] = Repository()
            self.hub.repositories[repo].commit({".gitattributes": b""})
            return self._json({"url": f"{self.hub.url}/{repo}", "name": repo})
        repo, what = "/".join(path.split("/")[3:5]), path.split("/")[5]
        if what == "preupload":
            files = [{"path": file["path"], "uploadMode": "regular", "shouldIgnore": False, "oid": None}
                     for file in json.loads(sent)["files"]]  # fmt: skip
            return self._json({"files": files})
        return self._commit(repo, [json.loads(line) for line in sent.splitlines() if line])

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline(), 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _commit(self, repo: str, lines: list[dict]) -> None:
        repository = self.hub.repositories[repo]
        files = dict(repository.commits[repository.names["main"]])
        for line in lines:
            if line["key"] == "file":
                files[line["value"]["path"]] = base64.b64decode(line["value"]["content"])
            elif line["key"] == "deletedFile":
                files.pop(line["value"]["path"], None)
        sha = repository.commit(files)
        self._json(
            {"commitUrl": f"{self.hub.url}/{repo}/commit/{sha}", "commitOid": sha, "hookOutput": "", "success": True}
        )


def _oid(content: bytes) -> str:
    return hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()


@contextmanager
def stand_in() -> Iterator[Hub]:
    """A stand-in that answers until the block ends."""
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    hub.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()


def point_at(url: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What HF_ENDPOINT, HF_HUB_CACHE and HF_TOKEN do to a process that is begun with them."""
    template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, url)
    settings = {"ENDPOINT": url, "HUGGINGFACE_CO_URL_TEMPLATE": template, "HF_HUB_CACHE": str(cache),
                "HF_HUB_OFFLINE": False}  # fmt: skip
    for name, value in settings.items():
        monkeypatch.setattr(constants, name, value)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
