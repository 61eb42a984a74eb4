"""What the check of suppressions costs a send: `/send` with none and with 1,000,000 suppressions.

Two running products into an SMTP sink, 10 clients with one message of 2 KB each, to recipients that are not suppressed;
with a checkout of a version without the check, that one too. Medians of interleaved rounds. The result is the ratio of
the CPU per message, of the product and of its PostgreSQL.
`python -m bench.suppressions [MESSAGES] [SUPPRESSIONS] [CHECKOUT]`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from statistics import median

import psycopg
import uvloop

from bench.rig.sends import Product
from bench.send_rate import Round, once, product_way
from bench.smtp_submit import Child
from mailkeep.db.instance import run_folder
from mailkeep.db.postgres import socket_urls

ROUNDS = 7


def fill(product: Product, count: int) -> None:
    """Add suppressions to the product's domain."""
    with psycopg.connect(socket_urls(run_folder(product.folder / "data")).owner, autocommit=True) as conn:
        conn.execute("SET statement_timeout = 0")
        conn.execute(
            """
            INSERT INTO suppressions (id, domain_id, address, address_key, reason, created_at)
            SELECT gen_random_uuid(), d.id, a.address, a.address, 'hard_bounce', '2026-01-01Z'
            FROM domains d
            CROSS JOIN LATERAL (SELECT 'customer' || n || '@elsewhere.test' AS address
                                FROM generate_series(1, %(count)s) n) a
            """,
            {"count": count},
        )
        conn.execute("VACUUM ANALYZE suppressions")


async def main(messages: int, count: int, checkout: Path | None) -> None:
    sink = Child("sink")
    empty, full = Product(sink.port), Product(sink.port)
    products = {"no suppressions": empty, f"{count:,} suppressions": full}
    if checkout:
        products["without the check"] = Product(sink.port, checkout=checkout)
    rounds: dict[str, list[Round]] = {name: [] for name in products}
    try:
        fill(full, count)
        for turn in range(ROUNDS + 1):
            for name, product in products.items():
                done = await once(product_way(product, 1), messages)
                if turn:  # the first warms up
                    rounds[name].append(done)
    finally:
        for product in products.values():
            product.end()
        sink.end()
    medians = {name: Round(*(median(column) for column in zip(*runs, strict=True))) for name, runs in rounds.items()}
    print(f"{ROUNDS} rounds of {messages} messages of 2 KB{'CPU µs':>16}{'PostgreSQL':>12}")
    for name, each in medians.items():
        print(f"{name:24} {each.rate:8,.0f} a second {each.cpu * 1e6:11.0f} {each.database * 1e6:11.0f}")
    none, *others = medians.values()
    costs = [each.cpu + each.database for each in (none, *others)]  # rates say little on a machine with other work
    ratio = {"full": round(costs[1] / costs[0], 2)} | ({"check": round(costs[0] / costs[2], 2)} if checkout else {})
    print(json.dumps({"bench": "suppressions", "promise": None, "ratio": ratio, "held": None}))


if __name__ == "__main__":
    arguments = dict(enumerate(sys.argv[1:]))
    folder = Path(arguments[2]) if 2 in arguments else None
    uvloop.run(main(int(arguments.get(0, 1000)), int(arguments.get(1, 1_000_000)), folder))
