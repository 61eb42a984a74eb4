"""Policies as they are looked up for decisions, and hits."""

from __future__ import annotations

import asyncio
from uuid import UUID

from mailkeep.core.ids import uuid7
from mailkeep.features.mailflow.filtering.model import Facts, Policy, ScoreThreshold, Subject
from mailkeep.features.mailflow.filtering.service import HitCounter, find_policies, find_policies_of_messages
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Api

_INSERT_SETTINGS = """
    INSERT INTO filter_settings (domain_id, mailbox_id, junk_score, reject_score, updated_at)
    VALUES (%(domain_id)s, %(mailbox_id)s, %(junk)s, %(reject)s, %(at)s)
"""


async def insert_entry(
    api: Api, list_name: str, kind: str, value: str, scope: Subject | None = None, *, enforced: bool = False
) -> UUID:
    """An entry of the server, or of a domain or mailbox."""
    return await api.filter_entry(value, list_name, kind, enforced=enforced, **_scope(scope))


def _scope(scope: Subject | None) -> dict[str, UUID | None]:
    mailbox_id = scope.mailbox_id if scope else None
    return {"domain_id": scope.domain_id if scope and not mailbox_id else None, "mailbox_id": mailbox_id}


async def find(api: Api, subjects: list[Subject], facts: Facts) -> dict[Subject, Policy]:
    async with api.app.db.autocommit() as conn:
        return await find_policies(conn, subjects, facts)


async def test_thresholds_and_entries_are_those_of_each_subject(api: Api) -> None:
    alice, bob = [Subject(DOMAIN_IDS[EXAMPLE], await api.mailbox(f"{name}@{EXAMPLE}")) for name in ("alice", "bob")]
    domain, other = Subject(DOMAIN_IDS[EXAMPLE]), Subject(DOMAIN_IDS[OTHER], await api.mailbox(f"zoe@{OTHER}"))
    for scope, junk, reject in ((domain, None, 15.0), (alice, 0.0, None)):
        await api.sql(_INSERT_SETTINGS, **_scope(scope), junk=junk, reject=reject, at=api.clock())
    expected = {
        None: await insert_entry(api, "deny", "network", "192.0.2.0/24", enforced=True),
        domain: await insert_entry(api, "deny", "domain", "good.test", domain),
        alice: await insert_entry(api, "allow", "address", "ann@news.good.test", alice),
        bob: await insert_entry(api, "allow", "network", "192.0.2.9/32", bob),
    }
    for no_match in ("news.good.tes", "ood.test", "bob@news.good.test"):
        await insert_entry(api, "deny", "address" if "@" in no_match else "domain", no_match, alice)
    await insert_entry(api, "deny", "network", "192.0.3.0/24", alice)

    facts = Facts("::ffff:192.0.2.9", "bounce@mailer.test", "Ann@News.GOOD.test")
    found = await find(api, [alice, bob, domain, other], facts)
    assert {subject: (policy.junk, policy.reject) for subject, policy in found.items()} == {
        alice: (ScoreThreshold(0, "mailbox"), ScoreThreshold(15, "domain")),
        bob: (ScoreThreshold(6, "server"), ScoreThreshold(15, "domain")),
        domain: (ScoreThreshold(6, "server"), ScoreThreshold(15, "domain")),
        other: (ScoreThreshold(6, "server"), ScoreThreshold(0, "server")),
    }
    ids = {subject: {entry.id for entry in policy.entries} for subject, policy in found.items()}
    server, of_domain = expected[None], expected[domain]
    assert ids == {
        alice: {server, of_domain, expected[alice]},
        bob: {server, of_domain, expected[bob]},
        domain: {server, of_domain},
        other: {server},
    }
    assert [(entry.scope, entry.enforced) for entry in found[other].entries] == [("server", True)]


async def test_policies_of_several_messages_are_not_mixed(api: Api) -> None:
    alice = Subject(DOMAIN_IDS[EXAMPLE], await api.mailbox())
    entry = await insert_entry(api, "deny", "address", "a@x.test", alice)
    long = Facts("no address", "x\x00y@x\ud800.test", "z@" + "a." * 5000 + "x.test")
    lookups = [([alice], Facts(mail_from="A@x.test")), ([alice], Facts()), ([], Facts()), ([alice], long)]
    async with api.app.db.autocommit() as conn:
        found = await find_policies_of_messages(conn, lookups)
    assert [[[entry.id for entry in each.entries] for each in policies.values()] for policies in found] == [
        [[entry]],
        [[]],
        [],
        [[]],
    ]


async def test_hits_of_several_processes_are_all_counted(api: Api) -> None:
    ids = [await insert_entry(api, "deny", "address", f"{number}@x.test") for number in range(4)]
    counters = [HitCounter(api.app) for _ in range(4)]

    async def work(counter: HitCounter, order: list[UUID]) -> None:
        for _ in range(10):
            for entry_id in order:
                counter.count(entry_id)
            counter.count(None)
            await counter.flush()

    await asyncio.gather(*(work(counter, ids[::step]) for counter, step in zip(counters, (1, -1, 1, -1), strict=True)))
    deleted = HitCounter(api.app)
    deleted.count(uuid7(api.clock()))
    await deleted.flush()
    rows = await api.sql("SELECT hits, last_hit_at FROM filter_entries")
    assert rows == [{"hits": 40, "last_hit_at": api.clock()}] * 4


async def test_a_lookup_reads_no_other_entries_than_those_that_match(api: Api) -> None:
    """Also before PostgreSQL has statistics of the table, as after a large import."""
    alice = Subject(DOMAIN_IDS[EXAMPLE], await api.mailbox())
    for scope in (None, Subject(alice.domain_id)):
        await api.sql(
            """
            INSERT INTO filter_entries (id, domain_id, mailbox_id, list, kind, value, created_by, created_at)
            SELECT gen_random_uuid(), %(domain_id)s::uuid, %(mailbox_id)s::uuid, 'deny', kind, value, 'test', %(at)s
            FROM generate_series(1, 5000) i,
                 LATERAL (VALUES ('address', 'user' || i || '@x.test'),
                                 ('network', '10.' || i / 256 || '.' || i %% 256 || '.0/24')) v(kind, value)
            """,
            **_scope(scope),
            at=api.clock(),
        )
    facts = Facts("10.1.2.3", "user7@x.test", "a@news.y.test")
    async with api.app.db.tx() as conn:
        found = await find_policies(conn, [alice, Subject(alice.domain_id)], facts)
        assert [len(policy.entries) for policy in found.values()] == [4, 4]
        cursor = await conn.execute(
            "SELECT seq_scan, idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'filter_entries'"
        )
        (read,) = await cursor.fetchall()
    # Of each policy, also an entry of the server and one of the domain, to know that they have some.
    assert read["seq_scan"] == 0
    assert 8 <= read["idx_tup_fetch"] <= 8 + 4
