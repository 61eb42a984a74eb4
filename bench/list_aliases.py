"""GET /aliases?limit=50 with a key, compared with a bare Starlette + msgspec handler: CPU of the serving process.

One process serves both with the same connection pool and uvicorn settings of the product. The bare handler executes the
statements of the product, recorded at the start, and returns the same data, without permissions, limits, validation,
cursor or envelope. Medians of interleaved pairs. Promise: ≤ 1.3 ×. `python -m bench.list_aliases [REQUESTS]`.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any
from unittest import mock
from uuid import UUID

import msgspec
import psycopg
import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bench.rig.calls import Server, call_all, serving
from bench.rig.data import application, database, fill_aliases
from mailkeep.app import App
from mailkeep.db.postgres import Urls
from mailkeep.run.runtime.router import ACCESS_CONTROL, ENDPOINTS
from mailkeep.web.metrics import Metrics
from mailkeep.web.pipeline import Pipeline
from mailkeep.web.router import Router
from tests.support.caller import Caller
from tests.support.client import DOMAIN_IDS, EXAMPLE, Client, key_of

PROMISED = 1.3
PAIRS = 9
CONNECTIONS = 4
PATH = "/api/v1/aliases?limit=50"
HEADERS = {"authorization": f"Bearer {key_of('unscoped')}"}


class Record(msgspec.Struct):
    id: UUID
    domain_id: UUID
    source_local_part: str
    destination: str
    active: bool
    status: None
    created_at: str
    updated_at: str


async def record_statements(app: App, pipeline: Pipeline) -> tuple[list[tuple[bytes, dict[str, Any]]], Any]:
    """The SQL statements with which the product answers the request, and the data of the response."""
    seen: list[tuple[bytes, dict[str, Any]]] = []
    execute: Any = psycopg.AsyncConnection.execute

    async def recorded(self: Any, query: Any, params: Any = None, **more: Any) -> Any:
        text = query if isinstance(query, bytes) else str(query).encode()
        seen.append((text, params))
        return await execute(self, query, params, **more)

    with mock.patch.object(psycopg.AsyncConnection, "execute", recorded):
        answer = await Client(pipeline, HEADERS).get("/aliases", limit=50)
    assert len(answer.data) == 50, answer.body
    return seen, answer.data


def bare(app: App, asked: list[tuple[bytes, dict[str, Any]]]) -> Starlette:
    """The minimal handler that returns the same data."""
    encoder = msgspec.json.Encoder()
    (find_key, key_named), (find_page, page_named) = asked

    def time(at: datetime) -> str:
        return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    async def aliases(request: Request) -> Response:
        token = hashlib.sha256(request.headers["authorization"].removeprefix("Bearer ").encode()).digest()
        limit = int(request.query_params["limit"])
        async with app.db.autocommit() as conn:
            await (await conn.execute(find_key, key_named | {"token_hash": token})).fetchone()
            rows = await (await conn.execute(find_page, page_named | {"page_rows": limit + 1})).fetchall()
        data = [
            Record(
                row["id"],
                row["domain_id"],
                row["source_local_part"],
                ",".join(row["destinations"]),
                row["active"],
                None,
                time(row["created_at"]),
                time(row["updated_at"]),
            )
            for row in rows[:limit]
        ]
        return Response(encoder.encode({"data": data}), media_type="application/json")

    return Starlette(routes=[Route("/api/v1/aliases", aliases)])


async def serve(urls: Urls, folder: Path) -> None:
    async with application(urls, folder) as app:
        pipeline = Pipeline(app, Router(ENDPOINTS), ACCESS_CONTROL, Metrics())
        asked, data = await record_statements(app, pipeline)
        other = bare(app, asked)
        assert (await Caller(other)("GET", PATH, HEADERS)).data == data
        await serving([pipeline, other], f"{len(asked)} statements")


async def measure(server: Server, requests: int) -> list[tuple[float, float]]:
    pairs: list[tuple[float, float]] = []
    for turn in range(PAIRS + 1):
        pair: list[float] = []
        for port in server.ports:
            before = server.cpu()
            await call_all(port, "GET", PATH, HEADERS, [b""] * requests, CONNECTIONS)
            pair.append((server.cpu() - before) / requests)
        if turn:  # the first warms up
            pairs.append((pair[0], pair[1]))
    return pairs


async def main(requests: int) -> None:
    async with database() as urls:
        fill_aliases(urls, DOMAIN_IDS[EXAMPLE], 10_000)
        with tempfile.TemporaryDirectory() as folder:
            server = Server(["bench.list_aliases", "serve", urls.owner, urls.app, urls.audit, folder])
            try:
                pairs = await measure(server, requests)
            finally:
                server.end()
    ours, theirs = (median(pair[side] for pair in pairs) * 1e6 for side in (0, 1))
    ratio = median(pair[0] / pair[1] for pair in pairs)
    print(f"{server.said}; CPU of the server a request, {PAIRS} pairs of {requests}")
    print(f"mailkeep {ours:8.0f} µs   Starlette + msgspec {theirs:8.0f} µs   ratio {ratio:.2f}")
    print(
        json.dumps({"bench": "list_aliases", "promise": PROMISED, "ratio": round(ratio, 2), "held": ratio <= PROMISED})
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        uvloop.run(serve(Urls(*sys.argv[2:5]), Path(sys.argv[5])))
    else:
        uvloop.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1500))
