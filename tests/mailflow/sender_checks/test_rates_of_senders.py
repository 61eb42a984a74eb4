"""Bounce and complaint rates of senders: tables with a clock, thresholds, crashes, and who is counted."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from mailkeep.core import failpoint
from mailkeep.core.address import parse_address
from mailkeep.core.ids import uuid7
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.features.mailflow.abuse import service as abuse
from mailkeep.features.mailflow.abuse.model import SendCharge
from mailkeep.features.mailflow.sender_checks import rules, service
from mailkeep.features.record.events import service as events
from mailkeep.features.record.messages import service as messages
from mailkeep.features.record.messages.model import DeliveryAttempt, ServerReply
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Api, Client
from tests.support.events import sample_event
from tests.support.messages import insert, outbound

SHOP = f"shop@{EXAMPLE}"


@dataclass(frozen=True)
class Mail:
    """What becomes of mail: recipients that got it, that do not exist, that refused it, that complained."""

    delivered: int = 0
    unknown: int = 0
    refused: int = 0
    complaints: int = 0
    temporary: int = 0


async def happen(api: Api, mail: Mail, sender: str = SHOP, domain: str = EXAMPLE, **columns: Any) -> UUID:
    """The outcomes of a message of this sender; they are not checked yet."""
    domain_id = columns.pop("domain_id", DOMAIN_IDS.get(domain))
    columns = {"from_address": sender, "domain_id": domain_id, "domain_name": domain} | columns
    message = await insert(api, outbound(api, f"first@{EXAMPLE}", **columns))
    permanent = {"bounce_type": "permanent", "to": "x@elsewhere.test"}
    kinds = [
        (mail.delivered, "mail.delivered", {"to": "x@elsewhere.test"}),
        (mail.unknown, "mail.bounced", permanent | {"class": "invalid_recipient"}),
        (mail.refused, "mail.bounced", permanent | {"class": "reputation"}),
        (mail.temporary, "mail.bounced", {"bounce_type": "temporary", "class": "invalid_recipient"}),
        (mail.complaints, "mail.complained", {"to": "x@elsewhere.test"}),
    ]
    async with api.app.db.tx() as conn:
        for number, kind, data in kinds:
            event = sample_event(kind, message.domain_id, message.id, data)
            await events.emit_all(conn, api.clock(), [event] * number)
    return message.id


async def alerts_of(client: Client) -> list[tuple[str, str, str]]:
    rows = (await client.get("/abuse/alerts", order="asc")).data
    return [(row["kind"], row["severity"], row["state"]) for row in rows]


async def published(api: Api) -> list[str]:
    rows = await api.sql("SELECT kind, data FROM events WHERE kind LIKE 'system.%%' ORDER BY tx, id")
    return [row["data"].get("alert", row["kind"]) for row in rows]


async def is_suspended(api: Api, address: str = SHOP) -> bool:
    return address in {row["address"] for row in (await api.sue.get("/abuse/suspensions")).data}


@pytest.mark.parametrize(
    "part, whole, percent", [(3, 30, 3.5), (20, 200, 6.6), (100, 1000, 8.3), (4, 1000, 0.16), (0, 50, 0), (0, 0, 0)]
)
def test_the_lower_bound_of_a_rate(part: int, whole: int, percent: float):
    assert 100 * rules.lower_bound(part, whole) == pytest.approx(percent, abs=0.05)


W, A, C = ("bounce_rate", "warning"), ("bounce_rate", "critical"), ("complaint_rate", "warning")
D = ("complaint_rate", "critical")


@pytest.mark.parametrize(
    "mail, alerts, suspended",
    [
        (Mail(120, 79), [], False),  # below the minimum volume
        (Mail(120, 80), [A], True),  # 200 recipients, 40 % unknown
        (Mail(180, 20), [W], False),  # 10 %, at least 6.6 %
        (Mail(187, 13), [], False),  # 6.5 %, at least 3.8 %
        (Mail(900, 100), [A], True),  # 10 %, at least 8.3 %
        (Mail(100, 0, refused=900), [], False),  # the server's reputation is not the sender's fault
        (Mail(150, 10, temporary=900), [], False),
        (Mail(999, complaints=50), [], False),
        (Mail(1000, complaints=1), [], False),  # 0.1 %, at least 0.02 %
        (Mail(1000, complaints=4), [C], False),  # 0.4 %, at least 0.16 %
        (Mail(1000, complaints=9), [D], False),  # mailed reports alone suspend nobody (T55)
        (Mail(1000, 70, complaints=9), [W, D], True),  # with unknown recipients they do
    ],
)
async def test_what_a_rate_leads_to(api: Api, mail: Mail, alerts: list[tuple[str, str]], suspended: bool):
    await happen(api, mail)
    await service.check(api.app)
    assert [each[:2] for each in await alerts_of(api.dora)] == alerts
    assert await is_suspended(api) == suspended
    assert (await published(api)).count("system.suspension") == suspended


GOOD, WARNED, BAD = Mail(100), Mail(180, 20), Mail(120, 80)


@pytest.mark.parametrize(
    "steps, expected",
    [
        # One clean hour does not hide a bad one, and the other way round.
        ([(0, Mail(10_000)), (90, BAD)], ["bounce_rate", "system.suspension"]),
        ([(0, BAD), (1, Mail(10_000))], ["bounce_rate", "system.suspension"]),
        # Warn, then act: one alert.
        ([(0, WARNED), (5, Mail(0, 20))], ["bounce_rate", "bounce_rate", "system.suspension"]),
        # It lasts: reminded once a day. It is over when the 7 days are, and an hour later.
        ([(0, WARNED), *[(60 * hour, None) for hour in range(1, 30)]], ["bounce_rate", "bounce_rate"]),
        ([(0, WARNED), (1, None), (10_095, None), (10_155, None)], ["bounce_rate", "bounce_rate_recovered"]),
        # Around the threshold: one alert.
        ([(n * 70, Mail(180, 20 if n % 2 else 0)) for n in range(8)], ["bounce_rate"]),
    ],
)  # fmt: skip
async def test_alerts_over_time(api: Api, steps: list[tuple[int, Mail | None]], expected: list[str]):
    begin = api.clock()
    for minute, mail in steps:
        api.clock.advance(seconds=(begin + timedelta(minutes=minute) - api.clock()).total_seconds())
        if mail:
            await happen(api, mail)
            await service.check(api.app)
        await service.check_again(api.app)
    assert sorted(await published(api)) == sorted(expected)
    assert len(await api.sql("SELECT FROM alerts")) == 1


async def test_lifting_a_suspension_forgets_what_led_to_it(api: Api):
    await happen(api, BAD)
    await service.check(api.app)
    [row] = (await api.sue.get("/abuse/suspensions")).data
    assert row["by"]["kind"] == "rules"
    assert "80 of 200 recipients do not exist" in row["reason"]
    assert (await api.adam.delete(f"/abuse/suspensions/{row['id']}")).status == 200
    await happen(api, Mail(30, 20))
    await service.check(api.app)
    await service.check_again(api.app)
    assert not await is_suspended(api)
    api.clock.advance(minutes=61)
    await service.check_again(api.app)
    assert [each[2] for each in await alerts_of(api.sue)] == ["resolved"]


async def test_a_sender_that_exceeds_its_limit_has_an_alert_until_the_suspension_is_lifted(api: Api):
    api.app.settings = replace(api.app.settings, abuse=replace(api.app.settings.abuse, sender_per_hour=5))
    who = Principal(None, "somebody", Role.ADMIN, ActorType.SESSION)
    charge = SendCharge(parse_address(SHOP), DOMAIN_IDS[EXAMPLE], 5)
    for is_refused in (False, True):
        assert [bool(each) for each in await abuse.count(api.app, who, api.clock(), [charge])] == [is_refused]
    await service.check(api.app)
    await service.check(api.app)
    assert await alerts_of(api.dora) == [("sender_rate", "critical", "open")]
    assert (await api.dora.get("/abuse/alerts")).data[0]["reason"].startswith("More than 5 recipients within an hour. ")
    api.clock.advance(days=1)
    await service.check_again(api.app)
    assert await alerts_of(api.dora) == [("sender_rate", "critical", "open")]
    [row] = (await api.sue.get("/abuse/suspensions")).data
    await api.sue.delete(f"/abuse/suspensions/{row['id']}")
    for _ in range(2):
        await service.check_again(api.app)
        api.clock.advance(minutes=61)
    await service.check_again(api.app)
    assert await alerts_of(api.dora) == [("sender_rate", "critical", "resolved")]


async def test_a_suspension_by_an_admin_stays(api: Api):
    mailbox = await api.mailbox(SHOP)
    assert (await api.sue.post(f"/mailboxes/{mailbox}/suspend", {"reason": "Ask me first."})).status == 200
    await happen(api, BAD)
    await service.check(api.app)
    [row] = (await api.sue.get("/abuse/suspensions")).data
    assert (row["reason"], row["by"]["kind"]) == ("Ask me first.", "admin")
    assert await alerts_of(api.sue) == [("bounce_rate", "critical", "open")]


async def test_domains_and_mailboxes_have_thresholds_of_their_own(api: Api):
    mailbox = await api.mailbox(SHOP)

    async def change(client: Client, scope: str, subject: UUID, **values: float | None) -> Any:
        return await client.patch("/abuse/thresholds", {"scope": scope, "id": str(subject), "values": values})

    assert (await change(api.adam, "mailbox", mailbox, bounce_act=50, bounce_warn=40.5)).status == 200
    refused = await change(api.dora, "mailbox", mailbox, bounce_act=51)
    assert refused.code == "INVALID_FIELD"
    shown = (await api.dora.get("/abuse/thresholds", scope="mailbox", id=str(mailbox))).data["values"]
    assert (shown["bounce_warn"]["value"], shown["bounce_warn"]["source"]) == (40.5, "mailbox")
    assert (shown["complaint_act"]["value"], shown["complaint_act"]["source"]) == (0.3, "global")
    await happen(api, BAD)  # at least 33 %
    await service.check(api.app)
    assert await alerts_of(api.sue) == []
    assert (await change(api.dora, "mailbox", mailbox, bounce_act=20)).status == 200
    await happen(api, Mail(1))
    await service.check(api.app)
    assert await is_suspended(api)


async def test_the_sender_is_the_one_that_mail_counts_for(api: Api):
    """The mailbox for its addresses with tags and in an alias domain, the envelope sender of mail clients' mail."""
    await api.mailbox(SHOP)
    alias = await api.domain("alias.test", alias_of=DOMAIN_IDS[EXAMPLE])
    await happen(api, Mail(60, 40), sender=f"Shop+news@{EXAMPLE}")
    await happen(api, Mail(30, 20), sender="shop@alias.test", domain="alias.test", domain_id=alias)
    await happen(api, Mail(30, 20), sender=f"other@{EXAMPLE}", source="smtp", mail_from=SHOP)
    await happen(api, Mail(0, 500), sender=f"forwarded@{EXAMPLE}", source="system")
    await happen(api, Mail(0, 500), sender="not an address")
    await service.check(api.app)
    [alert] = (await api.dora.get("/abuse/alerts")).data
    assert (alert["subject"], alert["observed"], alert["baseline"]) == (SHOP, 40.0, 8.0)
    [row] = (await api.sue.get("/abuse/suspensions")).data
    assert row["address"] == SHOP


async def test_a_domain_admin_can_not_begin_again_by_suspending_and_lifting(api: Api):
    """Nor keep the rules from suspending a sender with a suspension that it can lift."""
    box = await api.mailbox(SHOP)
    await happen(api, Mail(70, 30))
    await service.check(api.app)
    for action in ("suspend", "unsuspend", "suspend"):
        assert (await api.dora.post(f"/mailboxes/{box}/{action}", {})).status == 200
    await happen(api, Mail(70, 30))
    await service.check(api.app)
    assert (await api.dora.post(f"/mailboxes/{box}/unsuspend")).code == "FORBIDDEN"
    assert (await api.adam.post(f"/mailboxes/{box}/unsuspend")).status == 200
    assert await api.sql("SELECT FROM sender_outcomes") == []


async def test_mail_of_a_client_counts_for_the_mailbox_that_logged_in(api: Api):
    """Whatever aliases or addresses of others it may use, and their owners stay as they were."""
    await api.mailbox(SHOP)
    await api.mailbox(f"info@{OTHER}")
    for number, domain in enumerate([EXAMPLE, OTHER, EXAMPLE]):
        await api.sql(
            "INSERT INTO submission_envelopes (queue_id, login, sender, recipients, client, created_at) "
            "VALUES (%(id)s, %(login)s, '', '{}', '', %(at)s)",
            id=f"Q{number}",
            login="Shop@" + EXAMPLE,
            at=api.clock(),
        )
        sender = f"info@{domain}"
        columns = {"source": "smtp", "mail_from": sender, "queue_id": f"Q{number}"}
        await happen(api, Mail(60, 40), sender=sender, domain=domain, **columns)
    await service.check(api.app)
    [alert] = (await api.dora.get("/abuse/alerts")).data
    assert (alert["subject"], alert["domain_id"]) == (SHOP, str(DOMAIN_IDS[EXAMPLE]))
    [row] = (await api.sue.get("/abuse/suspensions")).data
    assert (row["address"], row["domain_id"]) == (SHOP, str(DOMAIN_IDS[EXAMPLE]))


async def test_copies_to_recipients_that_do_not_exist_are_an_alert_about_the_domain(api: Api):
    """Nobody is suspended: mail of anybody is forwarded."""
    await happen(api, Mail(150, 50), sender="somebody@elsewhere.test", source="system")
    await service.check(api.app)
    await service.check_again(api.app)
    [alert] = (await api.dora.get("/abuse/alerts")).data
    assert (alert["kind"], alert["subject"], alert["severity"]) == ("bounce_rate", EXAMPLE, "critical")
    assert "of forwarded copies" in alert["reason"]
    assert (await api.sue.get("/abuse/suspensions")).data == []


async def test_what_was_counted_while_the_clock_was_ahead_does_not_count(api: Api):
    api.clock.advance(days=30)
    await happen(api, Mail(60, 40))
    await service.check(api.app)
    api.clock.advance(days=-30)
    await happen(api, Mail(60, 40))
    await service.check(api.app)
    assert await alerts_of(api.sue) == []


async def test_senders_below_the_minimum_are_added_up_by_domain(api: Api):
    """As with a stolen API key and changing senders: an alert about the domain, and nobody is suspended."""
    for number in range(4):
        await happen(api, Mail(30, 20), sender=f"s{number}@{EXAMPLE}")
        await happen(api, Mail(0, 20), sender=f"s{number}@{OTHER}", domain=OTHER)
    await happen(api, Mail(500), sender=f"large@{EXAMPLE}")
    await service.check(api.app)
    await service.check_again(api.app)
    [alert] = (await api.sue.get("/abuse/alerts")).data
    assert (alert["kind"], alert["subject"], alert["severity"]) == ("bounce_rate", EXAMPLE, "critical")
    assert (alert["observed"], alert["domain_id"]) == (40.0, str(DOMAIN_IDS[EXAMPLE]))
    assert (await api.sue.get("/abuse/suspensions")).data == []
    api.clock.advance(hours=25)
    await service.check_again(api.app)
    api.clock.advance(hours=1)
    await service.check_again(api.app)
    assert await alerts_of(api.dora) == [("bounce_rate", "critical", "resolved")]


async def test_bounces_that_came_by_mail_count_for_nothing(api: Api):
    message = await happen(api, Mail(120, 80))
    attempt = DeliveryAttempt(uuid7(api.clock()), message, api.clock(), "bounced", "x@elsewhere.test", 0, ServerReply())
    async with api.app.db.tx() as conn:
        await messages.record_attempts(conn, [attempt])
    await service.check(api.app)
    assert await api.sql("SELECT outcomes, unknown FROM sender_outcomes") == [{"outcomes": 120, "unknown": 0}]


async def test_a_domain_that_is_added_again_starts_empty(api: Api):
    """T47: also if outcomes of the deleted domain are read after it was added again."""
    domain = UUID((await api.sue.post("/domains", {"name": "again.test"})).data["id"])
    await happen(api, Mail(100, 40), sender="shop@again.test", domain="again.test", domain_id=domain)
    await service.check(api.app)
    await happen(api, BAD, sender="shop@again.test", domain="again.test", domain_id=domain)
    assert (await api.sue.delete(f"/domains/{domain}")).status == 200
    again = UUID((await api.sue.post("/domains", {"name": "again.test"})).data["id"])
    await service.check(api.app)
    assert await api.sql("SELECT FROM sender_outcomes") == []
    await happen(api, Mail(199), sender="shop@again.test", domain="again.test", domain_id=again)
    await service.check(api.app)
    assert await alerts_of(api.sue) == []


async def test_one_tenant_sees_nothing_of_another(api: Api):
    await happen(api, BAD, sender=f"shop@{OTHER}", domain=OTHER)
    await service.check(api.app)
    assert await alerts_of(api.otto) == [("bounce_rate", "critical", "open")]
    assert await alerts_of(api.dora) == []


async def test_each_outcome_counts_once_whoever_checks(api: Api, monkeypatch: pytest.MonkeyPatch):
    for _ in range(8):
        await happen(api, BAD)

    def crash(_name: str) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(failpoint, "reach", crash)
        with pytest.raises(RuntimeError):
            await service.check(api.app)
    await asyncio.gather(*(service.check(api.app) for _ in range(4)), *(service.check_again(api.app) for _ in range(2)))
    sums = await api.sql("SELECT sum(outcomes)::int AS outcomes, sum(unknown)::int AS unknown FROM sender_outcomes")
    assert sums == [{"outcomes": 1600, "unknown": 640}]
    assert sorted(await published(api)) == ["bounce_rate", "system.suspension"]


async def test_old_counters_are_deleted(api: Api):
    await happen(api, GOOD)
    await service.check(api.app)
    api.clock.advance(days=7)
    await service.prune(api.app)
    assert len(await api.sql("SELECT FROM sender_outcomes")) == 1
    api.clock.advance(days=2)
    await service.prune(api.app)
    assert await api.sql("SELECT FROM sender_outcomes") == []


@pytest.mark.parametrize(
    "days, today, expected",
    [
        (5, range(1000, 1300), True),  # somebody who wrote to ten people a day writes to 300 others
        (4, range(1000, 1300), False),  # too little is known
        (5, range(1000, 1150), False),  # too few
        (5, range(30, 330), True),
        (5, range(300), True),
    ],
)
async def test_a_sender_that_writes_to_others_than_before(api: Api, days: int, today: range, expected: bool):
    async def write(people: range) -> None:
        addresses = [f"p{number}@elsewhere.test" for number in people]
        message = await insert(api, outbound(api, *addresses))
        async with api.app.db.tx() as conn:
            await events.emit(conn, api.clock(), sample_event("mail.sent", message.domain_id, message.id, {}))
        await service.check(api.app)

    for day in range(days):
        await write(range(day * 10, day * 10 + 10))
        api.clock.advance(days=1)
    await write(today)
    await write(today)
    await service.check_again(api.app)
    assert await alerts_of(api.dora) == ([("new_recipients", "warning", "open")] if expected else [])


def test_the_number_of_recipients_of_a_bitmap():
    chance = random.Random(5)
    for number in (50, 200, 1000, 4000):
        seen = rules.bitmap([chance.getrandbits(60) for _ in range(number)])
        assert rules.estimate(seen.bit_count()) == pytest.approx(number, rel=0.1)
