"""Page 1 compared with page 20,000 of 1,000,000 aliases, 50 each, through the whole pipeline.

The far page is requested by its cursor. Medians of interleaved pairs, time of a request within the process.
Promise: ≤ 1.2. `python -m bench.pages [ALIASES]`.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import uvloop

from bench.rig.data import application, database, fill_aliases
from mailkeep.run.runtime.router import ACCESS_CONTROL, ENDPOINTS
from mailkeep.web.pipeline import Pipeline
from mailkeep.web.router import Router
from tests.support.client import DOMAIN_IDS, EXAMPLE, Client, key_of

PROMISED = 1.2
PAIRS = 400
LIMIT = 50
MOST = 200


class Lists:
    """A sort order of the list, and its pages."""

    def __init__(self, client: Client, **query: Any) -> None:
        self.client, self.query = client, query

    async def page(self, cursor: str, limit: int = LIMIT) -> dict[str, Any]:
        answer = await self.client.get("/aliases", **self.query, limit=limit, cursor=cursor or None)
        assert answer.status == 200, answer.body
        return answer.json

    async def cursor_behind(self, rows: int) -> str:
        """The cursor after that many rows; a cursor is valid for any limit."""
        cursor = ""
        while rows:
            step = min(rows, MOST)
            cursor = (await self.page(cursor, step))["meta"]["pagination"]["next_cursor"]
            rows -= step
        return cursor

    async def seconds(self, cursor: str) -> float:
        before = time.perf_counter()
        found = await self.page(cursor)
        seconds = time.perf_counter() - before
        assert len(found["data"]) == LIMIT
        return seconds


async def measure(lists: Lists, count: int) -> tuple[float, float]:
    far = await lists.cursor_behind(count - LIMIT)
    pairs = [(await lists.seconds(""), await lists.seconds(far)) for _ in range(PAIRS)][PAIRS // 10 :]
    first, last = (median(pair[side] for pair in pairs) for side in (0, 1))
    return first, last


async def main(count: int) -> None:
    ratios: dict[str, float] = {}
    async with database() as urls:
        fill_aliases(urls, DOMAIN_IDS[EXAMPLE], count)
        with tempfile.TemporaryDirectory() as folder:
            async with application(urls, Path(folder)) as app:
                pipeline = Pipeline(app, Router(ENDPOINTS), ACCESS_CONTROL)
                client = Client(pipeline, {"authorization": f"Bearer {key_of('unscoped')}"})
                for name, query in (("all aliases", {}), ("of a domain", {"domain_id": DOMAIN_IDS[EXAMPLE]})):
                    first, last = await measure(Lists(client, **query), count)
                    ratios[name] = last / first
                    print(
                        f"{name:12} page 1 {first * 1e6:7.0f} µs   page {count // LIMIT:,} "
                        f"{last * 1e6:7.0f} µs   ratio {ratios[name]:.2f}"
                    )
    worst = max(ratios.values())
    print(json.dumps({"bench": "pages", "promise": PROMISED, "ratio": round(worst, 2), "held": worst <= PROMISED}))


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000))
