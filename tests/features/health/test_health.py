"""Health and version: open, quick, and true also while the database is away."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import mailkeep
from mailkeep.core.errors import Unavailable
from mailkeep.features.health import rules, service
from mailkeep.features.health.model import Check, Status
from mailkeep.mail.smtp_connection import Relay
from mailkeep.mail.smtp_pool import SmtpPool
from tests.client import Api
from tests.web.caller import Caller


@pytest.mark.parametrize(
    "statuses, whole",
    [
        (["ok", "ok"], "ok"),
        (["ok", "degraded"], "degraded"),
        (["degraded", "down"], "down"),
        (["down", "degraded"], "down"),
        ([], "ok"),
    ],
)
def test_the_whole_is_as_bad_as_its_worst_part(statuses: list[Status], whole: Status):
    assert rules.overall([Check("part", status) for status in statuses]).status == whole


@pytest.mark.parametrize(
    "free, total, status",
    [(50 << 30, 100 << 30, "ok"), (4 << 30, 100 << 30, "degraded"), (10 << 20, 100 << 20, "down"), (0, 0, "down")],
)
def test_a_disk_that_fills(free: int, total: int, status: Status):
    assert rules.disk(free, total) == status


async def ask(api: Api, path: str) -> Any:
    return await Caller(api.pipeline)("GET", path)


@pytest.mark.usefixtures("unhurried")
@pytest.mark.parametrize("path", ["/health", "/api/v1/health"])
async def test_health_is_open_and_names_the_parts(api: Api, path: str):
    answer = await ask(api, path)
    assert answer.status == 200
    assert answer.data["status"] in ("ok", "degraded")  # the disk of a machine that runs tests may be nearly full
    assert [check["component"] for check in answer.data["checks"]] == ["database", "disk"]
    assert answer.data["checks"][0]["status"] == "ok"


@pytest.mark.parametrize("path", ["/version", "/api/v1/version"])
async def test_version(api: Api, path: str):
    answer = await ask(api, path)
    assert (answer.data["version"], answer.data["api"]) == (mailkeep.__version__, "v1")
    assert answer.data["profile"] == "embedded"


@pytest.mark.usefixtures("unhurried")
async def test_lives_and_is_ready(api: Api):
    for path in ("/healthz", "/readyz"):
        assert (await ask(api, path)).data == {"status": "ok"}
        assert (await ask(api, f"/api/v1{path}")).status == 404


class Away:
    """A database that is away at once, or never answers."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    @asynccontextmanager
    async def autocommit(self) -> AsyncIterator[None]:
        try:
            await asyncio.sleep(self._seconds)
        except asyncio.CancelledError:
            await asyncio.sleep(1)  # it does not let go at once
            raise
        raise Unavailable
        yield


@pytest.mark.parametrize("seconds", [0, 60])
async def test_without_the_database_it_is_down_and_says_so_quickly(api: Api, seconds: float):
    api.app.db = Away(seconds)  # pyright: ignore[reportAttributeAccessIssue]
    started = time.monotonic()
    health, ready, lives = await asyncio.gather(ask(api, "/health"), ask(api, "/readyz"), ask(api, "/healthz"))
    assert time.monotonic() - started < 30
    assert (health.status, health.code, health.headers["retry-after"]) == (503, "UNAVAILABLE", "2")
    details = health.json["error"]["details"]
    assert details["status"] == "down"
    assert {"component": "database", "status": "down"} in details["checks"]
    assert (ready.status, lives.status) == (503, 200)


async def test_a_schema_of_another_version_is_not_ready(api: Api, monkeypatch: pytest.MonkeyPatch):
    known = service.read_migrations()
    monkeypatch.setattr(service, "_read_migrations", lambda: known[:-1])
    assert (await ask(api, "/readyz")).status == 503
    monkeypatch.setattr(service, "_read_migrations", lambda: [*known, known[-1]])
    assert (await ask(api, "/readyz")).status == 503


@pytest.mark.usefixtures("unhurried")
async def test_the_sandbox_is_a_part_where_there_is_one(api: Api):
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))  # ours from now on, and nobody listens there yet
        api.app.mta = SmtpPool(Relay("127.0.0.1", server.getsockname()[1]))
        answer = await ask(api, "/health")
        assert answer.status == 200
        assert {"component": "mta", "status": "degraded"} in answer.data["checks"]
        server.listen()
        assert {"component": "mta", "status": "ok"} in (await ask(api, "/health")).data["checks"]


COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_the_commit_is_read_from_a_clone_of_any_kind(tmp_path: Path):
    assert service.commit_of(tmp_path) is None
    git = tmp_path / ".git"
    (git / "refs/heads").mkdir(parents=True)
    (git / "HEAD").write_text(f"{COMMIT}\n")
    assert service.commit_of(tmp_path) == COMMIT
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    assert service.commit_of(tmp_path) is None
    (git / "packed-refs").write_text(f"# pack-refs with: peeled\n{COMMIT} refs/heads/main\n")
    assert service.commit_of(tmp_path) == COMMIT
    (git / "refs/heads/main").write_text(f"{COMMIT[::-1]}\n")
    assert service.commit_of(tmp_path) == COMMIT[::-1]
    tree, own = tmp_path / "tree", git / "worktrees/tree"
    tree.mkdir()
    own.mkdir(parents=True)
    (tree / ".git").write_text(f"gitdir: {own}\n")
    (own / "HEAD").write_text("ref: refs/heads/main\n")
    (own / "commondir").write_text("../..\n")
    assert service.commit_of(tree) == COMMIT[::-1]


@pytest.mark.usefixtures("unhurried")
async def test_in_the_full_profile_each_part_is_told_as_its_supervisor_tells(api: Api):
    api.app.parts = lambda: {"postfix": True, "lmtp": False, "supervisor": True}
    answer = await ask(api, "/health")
    assert answer.status == 200
    assert answer.data["status"] == "degraded"
    assert answer.data["checks"][2:] == [
        {"component": "lmtp", "status": "degraded"},
        {"component": "postfix", "status": "ok"},
        {"component": "supervisor", "status": "ok"},
    ]
