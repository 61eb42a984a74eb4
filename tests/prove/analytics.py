"""`make prove-analytics`: each figure over 90 days, with 10,000,000 outcomes and with 100,000 (ARGS="1000000 10000").

Two running products. Mail of 20 domains to realistic providers, with keys and tags, is added up by the rules, and the
counters are loaded by COPY: nine different days and the running one, each of the nine ten times; and the last day of
the feed of events, which each request looks at. Measured is the CPU of all processes for the first response on a new
connection, in turns. It takes about five minutes.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import shutil
import sys
import time
import urllib.request
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import astuple
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from statistics import median
from typing import Any
from uuid import UUID, uuid4

import psycopg
from psycopg.sql import SQL, Composed, Identifier

from bench.rig.calls import cpu_of, cpu_of_children
from mailkeep.core.ids import uuid7
from mailkeep.db.instance import run_folder
from mailkeep.db.postgres import socket_urls
from mailkeep.features.record.analytics import rules
from mailkeep.features.record.analytics.model import ALL_DOMAINS, DELAYS, FIGURES, MailEvent
from tests.prove.checks import Checks
from tests.prove.circumstances import circumstances
from tests.support import instance as instances
from tests.support.figures import mail_event
from tests.support.scratch import new_directory

MOST_RATIO = 1.5
DAYS, DOMAINS, KEYS, TAGS, TURNS = 90, 20, 10, 10, 9
DIFFERENT_DAYS = 9


def _table(**weights: int) -> tuple[Sequence[str], Sequence[int]]:
    return list(weights), list(accumulate(weights.values()))


_HOSTS = _table(**{
    "gmail-smtp-in.l.google.com": 38, "far.mail.protection.outlook.com": 24, "mta5.am0.yahoodns.net": 8,
    "mx01.mail.icloud.com": 5, "mx00.emig.gmx.net": 5, "mx03.t-online.de": 3, "mx.zoho.eu": 2,
    "mx1.far.pphosted.com": 2, "eu-smtp-inbound-1.mimecast.com": 2, "mx.far.example": 11,
})  # fmt: skip
_OUTCOMES = _table(delivered=925, deferred=40, bounced=30, failed=5)
_CLASSES = _table(
    invalid_recipient=45, mailbox_full=12, greylisted=12, rate_limited=8, reputation=6, content=5, mailbox_disabled=4,
    policy=3, bad_domain=2, network=2, auth=1,
)  # fmt: skip
_ZONES = ("UTC", "Europe/Berlin", "Asia/Kathmandu")


class Mail:
    """Random mail of the last days (of UTC), as much on each. Its outcomes are on the day on which it was sent."""

    def __init__(self, domains: Sequence[UUID], keys: Sequence[UUID], outcomes: int, until: datetime) -> None:
        self.domains, self.keys, self.outcomes, self.until = domains, keys, outcomes, until
        self._chance = random.Random(outcomes)
        self._shares = list(accumulate(1 / n for n in range(1, len(domains) + 1)))  # as Zipf's law has it

    def day(self, number: int) -> Iterator[MailEvent]:
        """The events of a day; number 0 is the running one."""
        chance = self._chance
        begin = self.until.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=number)
        seconds = min((self.until - begin).total_seconds(), 86_399)
        for _ in range(self.outcomes * (number + 1) // DAYS - self.outcomes * number // DAYS):
            after = chance.triangular(0, seconds, seconds * 0.6)
            sent = begin + timedelta(seconds=after)
            which = bisect(self._shares, chance.random() * self._shares[-1])
            key = self.keys[which % KEYS] if chance.random() < 0.7 else None
            tags = [f"tag-{chance.randrange(TAGS)}"] if chance.random() < 0.3 else []
            yield self._event("mail.sent", which, sent, sent, key, tags)
            outcome, after = self._pick(_OUTCOMES), after + chance.lognormvariate(1.4, 1.1)
            if outcome == "deferred":
                at = begin + timedelta(seconds=min(after, seconds))
                yield self._event("mail.bounced", which, at, sent, key, tags, is_temporary=True)
                outcome, after = "delivered", after + chance.uniform(300, 4000)
            at = begin + timedelta(seconds=min(after, seconds))
            yield self._event(f"mail.{outcome}", which, at, sent, key, tags)

    def _pick(self, table: tuple[Sequence[str], Sequence[int]]) -> str:
        names, weights = table
        return names[bisect(weights, self._chance.random() * weights[-1])]

    def _event(
        self, kind: str, which: int, at: datetime, sent: datetime, key: UUID | None, tags: list[str],
        *, is_temporary: bool = False,
    ) -> MailEvent:  # fmt: skip
        host = None if kind == "mail.sent" else self._pick(_HOSTS)
        bounce_class = self._pick(_CLASSES) if kind in ("mail.bounced", "mail.failed") else None
        return mail_event(
            kind, self.domains[which], at, host, bounce_class,
            accepted_at=sent, api_key_id=key, tags=tags, is_temporary=is_temporary,
        )  # fmt: skip


class Side:
    """A running product with figures."""

    def __init__(self, outcomes: int) -> None:
        self.outcomes = outcomes
        self.folder = new_directory("mailkeep-prove-", 0o755)
        (self.folder / "data").mkdir(mode=0o711)
        environ = {"MAILKEEP_LIMITS__REQUESTS_PER_SECOND": "10000"}
        self.running = instances.start(self.folder / "data", environ, seconds=120)
        self.cookie = self._sign_in()
        self.domain_id, self.key = ALL_DOMAINS, ""
        self._load()

    def _sign_in(self) -> str:
        password = (self.folder / "data" / "initial-admin").read_text().strip()
        request = urllib.request.Request(
            f"{self.running.http}/api/v1/auth/login",
            json.dumps({"email": "admin@localhost", "password": password}).encode(),
            {"content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return (answer.headers["set-cookie"] or "").partition(";")[0]

    def _load(self) -> None:
        began = time.monotonic()
        url = socket_urls(run_folder(self.folder / "data")).owner
        now = datetime.now(UTC)
        domains, keys = [uuid7(now) for _ in range(DOMAINS)], [uuid4() for _ in range(KEYS)]
        self.domain_id, self.key = domains[DOMAINS // 2], str(keys[0])
        mail = Mail(domains, keys, self.outcomes, now - timedelta(minutes=1))
        with psycopg.connect(url, autocommit=True) as conn:
            conn.execute("SET statement_timeout = 0; SET synchronous_commit = off")
            conn.execute(
                """
                INSERT INTO domains (id, name, active, sending_enabled, receiving_enabled, description,
                                     default_quota_bytes, plus_delimiter, dns_status, created_at, updated_at)
                SELECT u.id, 'd' || u.n || '.test', true, true, true, '', 0, '+', 'unchecked', %(at)s, %(at)s
                FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY u (id, n)
                """,
                {"ids": domains, "at": now},
            )
            # Before the events below, so that nothing counts them.
            conn.execute("UPDATE event_positions SET tx = '2' WHERE reader = 'analytics'")
            for number in range(DIFFERENT_DAYS + 1):  # the running one as well
                self._load_day(conn, mail.day(number))
            for table in ("analytics_counters", "analytics_bounces"):
                self._repeat_days(conn, table, now)
            self._load_feed(conn, now)
            conn.execute("VACUUM ANALYZE")
            sizes = conn.execute(
                "SELECT (SELECT sum(delivered + deferred + bounced + failed) FROM analytics_counters"
                "        WHERE domain_id = %(all)s AND dimension = '' AND provider = '' AND step = 15),"
                "       (SELECT count(*) FROM analytics_counters), (SELECT count(*) FROM analytics_bounces)",
                {"all": ALL_DOMAINS},
            ).fetchone()
        assert sizes
        print(
            f"{sizes[0]:,} outcomes of {self.outcomes:,} recipients: {sizes[1]:,} counters, {sizes[2]:,} of bounces; "
            f"made and loaded in {time.monotonic() - began:.0f} s",
            flush=True,
        )

    @staticmethod
    def _load_day(conn: psycopg.Connection[Any], events: Iterator[MailEvent]) -> None:
        sums = rules.Sums({})
        for event in events:
            sums.add(event)
        counters, bounces = rules.with_hours_and_days(sums.counters, sums.bounces)
        columns = ["domain_id", "dimension", "value", "provider", "step", "slot"]
        with conn.cursor() as cursor, cursor.copy(_copy("analytics_counters", [*columns, *FIGURES, "delays"])) as copy:
            for key, counter in counters.items():
                delays = [counter.delays.get(n, 0) for n in range(len(DELAYS))] if counter.delays else None
                copy.write_row([*astuple(key), *(counter.figures.get(name, 0) for name in FIGURES), delays])
        names = ("deferred", "bounced", "failed")
        more = ["class", *names, "reply", "reply_at", "message_id"]
        with conn.cursor() as cursor, cursor.copy(_copy("analytics_bounces", [*columns, *more])) as copy:
            for (key, of), each in bounces.items():
                numbers = (each.figures.get(name, 0) for name in names)
                copy.write_row([*astuple(key), of, *numbers, each.reply, each.reply_at, each.message_id])

    @staticmethod
    def _repeat_days(conn: psycopg.Connection[Any], table: str, now: datetime) -> None:
        """Copy the complete days to all earlier ones."""
        found = conn.execute(
            "SELECT column_name FROM information_schema.columns WHERE table_name = %s AND column_name <> 'slot'",
            [table],
        )
        conn.execute(
            SQL(
                """
                INSERT INTO {table} (slot, {columns})
                SELECT t.at, {columns}
                FROM {table} c, generate_series(1, %(most)s) n,
                     LATERAL (SELECT c.slot - n * %(days)s * interval '24 hours' AS at) t
                WHERE c.slot < %(today)s AND t.at > %(today)s - %(all)s * interval '24 hours'
                """
            ).format(table=Identifier(table), columns=SQL(", ").join(Identifier(name) for (name,) in found)),
            {
                "days": DIFFERENT_DAYS, "most": DAYS // DIFFERENT_DAYS, "all": DAYS,
                "today": now.replace(hour=0, minute=0, second=0, microsecond=0),
            },
        )  # fmt: skip

    def _load_feed(self, conn: psycopg.Connection[Any], now: datetime) -> None:
        """The events of the last day, which are before the position."""
        conn.execute(
            """
            INSERT INTO events (id, tx, kind, domain_id, message_id, data, created_at)
            SELECT (lpad(to_hex((extract(epoch FROM t.at) * 1000)::bigint), 12, '0') || '7' || substr(t.h, 1, 3) || '8'
                    || substr(t.h, 4, 15))::uuid,
                   '1', 'mail.delivered', %(domain)s, %(domain)s,
                   jsonb_build_object('to', 'customer' || i || '@far.example', 'smtp_code', 250, 'attempts', 1), t.at
            FROM generate_series(1, %(count)s) i,
                 LATERAL (SELECT %(at)s - i * interval '1 day' / %(count)s AS at, md5(i::text) AS h) t
            """,
            {"domain": self.domain_id, "count": 2 * self.outcomes // DAYS, "at": now},
        )

    def measure(self, path: str) -> tuple[float, float]:
        """Seconds until the first response on a new connection is read, and those of CPU of all processes."""
        used = self._used()
        connection = http.client.HTTPConnection(self.running.http.removeprefix("http://"), timeout=60)
        path = path.replace("{domain_id}", str(self.domain_id)).replace("{key}", self.key)
        began = time.perf_counter()
        connection.request("GET", f"/api/v1/analytics/{path}", headers={"cookie": self.cookie})
        response = connection.getresponse()
        content = response.read()
        took = time.perf_counter() - began
        connection.close()
        assert response.status == 200, content
        data = json.loads(content)["data"]
        assert data if isinstance(data, list) else data["delivered"], path
        return took, self._used() - used

    def _used(self) -> float:
        return cpu_of(self.running.process.pid) + cpu_of_children(self.running.process.pid)

    def end(self) -> None:
        self.running.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def _copy(table: str, columns: Sequence[str]) -> Composed:
    names = SQL(", ").join(map(Identifier, columns))
    return SQL("COPY {} ({}) FROM STDIN").format(Identifier(table), names)


def requests() -> Iterator[str]:
    """What is asked: each endpoint, for all domains and for one, and each filter."""
    names = ("overview", "timeseries", "domains", "destinations", "bounces", "tags", "api-keys")
    for zone in _ZONES:
        for name in names:
            yield f"{name}?period=90d&tz={zone}"
        yield f"timeseries?period=90d&tz={zone}&interval=hour"
    for name in names:
        yield f"{name}?period=90d&domain_id={{domain_id}}&tz=Europe/Berlin"
    for chosen in ("provider=google", "tag=tag-3", "api_key_id={key}"):
        for name in ("overview", "timeseries", "domains", "bounces"):
            yield f"{name}?period=90d&tz=Europe/Berlin&{chosen}"


def prove(large: Side, small: Side, checks: Checks) -> None:
    """Compare the median of several responses, each request to both in turns."""
    for path in requests():
        turns = [(*small.measure(path), *large.measure(path)) for _ in range(TURNS)]
        first, less, second, more = (median(column) * 1000 for column in zip(*turns, strict=True))
        checks.check(
            f"{path.replace('period=90d&', '')}", more <= MOST_RATIO * less,
            f"CPU {more / less:.2f} × ({more:.1f} ms against {less:.1f}; on the clock {second:.0f} and {first:.0f})",
        )  # fmt: skip


def main() -> int:
    """Prove it."""
    large, small = (int(text) for text in (*sys.argv[1:], *("10000000", "100000")[len(sys.argv) - 1 :]))
    print(circumstances(f"figures over {DAYS} days, of {large:,} recipients compared with {small:,}"))
    checks, sides = Checks(), list[Side]()
    try:
        for outcomes in (small, large):
            sides.append(Side(outcomes))
        print(f"medians of {TURNS} responses, allowed {MOST_RATIO} ×; load {os.getloadavg()[0]:.1f}", flush=True)
        prove(sides[1], sides[0], checks)
    finally:
        for side in sides:
            side.end()
    print(f"{checks.passed} of {checks.passed + len(checks.failed)}")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
