"""Recipients per hour: accepted, refused and suspended senders, and exact counts."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from dataclasses import replace
from typing import Any, cast

import pytest

from mailkeep.core.address import parse_address
from mailkeep.core.errors import RateLimitExceeded, Refusal
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.features.mailflow.abuse import service
from mailkeep.features.mailflow.abuse.model import SendCharge
from mailkeep.features.mailflow.sender_checks import service as sender_checks
from mailkeep.mail.smtp.client import ConnectionLost
from mailkeep.mail.smtp.pool import SmtpPool
from mailkeep.run.runtime.tasks import housekeeping
from mailkeep.settings import Settings
from mailkeep.settings.tree import AbuseSettings
from tests.plugins.api import NO_RATE_LIMITS
from tests.plugins.post import Post, letter
from tests.support.caller import Answer
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Api, reason

SENDER, DOMAIN = 10, 25
WHO = Principal(None, "somebody", Role.ADMIN, ActorType.SESSION)


@pytest.fixture
def api_settings() -> Settings:
    return replace(NO_RATE_LIMITS, abuse=AbuseSettings(sender_per_hour=SENDER, domain_per_hour=DOMAIN))


def mail(sender: str, recipients: int) -> dict[str, Any]:
    """A message of a sender of example.test to `count` recipients."""
    to = [{"email": f"customer{n}@elsewhere.test"} for n in range(recipients)]
    return letter(**{"from": {"email": f"{sender}@{EXAMPLE}"}, "to": to})


async def send(post: Post, recipients: int = 1, sender: str = "shop") -> Answer:
    return await post.api.sue.post("/send", mail(sender, recipients))


async def counts(api: Api) -> dict[str, int]:
    rows = await api.sql("SELECT subject, sum(recipients)::integer AS n FROM send_counts GROUP BY subject")
    return {row["subject"].removesuffix(f"@{EXAMPLE}"): row["n"] for row in rows}


def use(sender: str, recipients: int) -> SendCharge:
    return SendCharge(parse_address(f"{sender}@{EXAMPLE}"), DOMAIN_IDS[EXAMPLE], recipients)


async def count(api: Api, *uses: SendCharge) -> list[Refusal | None]:
    return await service.count(api.app, WHO, api.clock(), uses)


async def wait(api: Api, wanted: SendCharge) -> int | None:
    """The Retry-After of a message beyond a rate limit."""
    [refusal] = await count(api, wanted)
    assert isinstance(refusal, RateLimitExceeded)
    return refusal.retry_after


async def fill_domain(api: Api, *, but: int = 0) -> None:
    """Let others of the domain send until it has only `but` recipients left."""
    assert await count(api, use("a", SENDER), use("b", SENDER), use("c", DOMAIN - 2 * SENDER - but)) == [None] * 3


async def test_a_sender_beyond_the_limit_is_refused_then_suspended(post: Post):
    assert [(await send(post, n)).status for n in (4, 6)] == [200, 200]
    answer = await send(post)
    assert (answer.status, answer.code, reason(answer)) == (429, "RATE_LIMIT_EXCEEDED", "sender_rate")
    assert answer.json["error"]["details"]["limit"] == SENDER
    assert answer.headers["retry-after"] == "3660"
    for _ in range(2):
        assert ((answer := await send(post)).status, answer.code) == (403, "MAILBOX_SUSPENDED")
    assert len(await post.messages()) == 2
    assert (await send(post, 1, "other")).status == 200

    [shown] = (await post.api.adam.get("/abuse/suspensions")).data
    assert shown["address"] == f"shop@{EXAMPLE}"
    assert shown["by"] == {"kind": "rules", "label": "rules"}
    [entry] = await post.api.audit_entries("sender.suspend")
    assert (entry["actor_type"], entry["resource_type"], entry["resource_id"]) == ("system", "suspension", shown["id"])
    assert entry["domain_id"] == DOMAIN_IDS[EXAMPLE]
    assert entry["details"]["after"]["address"] == f"shop@{EXAMPLE}"


async def test_a_suspension_by_the_rules_is_shown_on_the_mailbox(post: Post):
    mailbox = await post.api.mailbox(f"shop@{EXAMPLE}")
    await send(post, SENDER)
    await send(post)
    shown = (await post.api.dora.get(f"/mailboxes/{mailbox}")).data["suspended"]
    assert (shown["by"], shown["reason"]) == ("rules", f"More than {SENDER} recipients within an hour.")
    assert (await post.api.dora.post(f"/mailboxes/{mailbox}/unsuspend")).code == "FORBIDDEN"


async def test_recipients_are_counted_once_and_senders_as_mail_is_routed(post: Post):
    twice = [{"email": "a@elsewhere.test"}, {"email": "A@ELSEWHERE.test"}]
    answer = await post.api.sue.post("/send", mail("shop", 1) | {"cc": twice, "bcc": [{"email": "c@elsewhere.test"}]})
    assert answer.status == 200
    assert (await send(post, 2, "SHOP")).status == 200
    assert await counts(post.api) == {"shop": 5, EXAMPLE: 5}


async def test_a_tag_counts_for_its_mailbox(post: Post):
    await post.api.mailbox(f"shop@{EXAMPLE}")
    for sender in ("shop", "shop+1", "SHOP+2"):
        assert (await send(post, 2, sender)).status == 200
    assert (await send(post, 2, "other+1")).status == 200  # no mailbox: a sender of its own
    assert await counts(post.api) == {"shop": 6, "other+1": 2, EXAMPLE: 8}
    assert reason(await send(post, 5, "shop+3")) == "sender_rate"
    [shown] = (await post.api.adam.get("/abuse/suspensions")).data
    assert shown["address"] == f"shop@{EXAMPLE}"
    assert [(await send(post, 1, f"shop{tag}")).code for tag in ("", "+4")] == ["MAILBOX_SUSPENDED"] * 2


async def test_a_tag_is_suspended_with_its_mailbox_and_by_itself(post: Post):
    for address in ("shop", "bob"):
        await post.api.mailbox(f"{address}@{EXAMPLE}")
    await post.api.suspension(f"shop@{EXAMPLE}")
    await post.api.suspension(f"bob+1@{EXAMPLE}")
    statuses = {sender: (await send(post, 1, sender)).status for sender in ("shop", "shop+1", "bob", "bob+1", "bob+2")}
    assert statuses == {"shop": 403, "shop+1": 403, "bob": 200, "bob+1": 403, "bob+2": 200}


async def test_a_message_that_alone_exceeds_the_limit_is_only_refused(post: Post):
    answer = await send(post, SENDER + 1)
    assert (answer.status, reason(answer)) == (429, "message_above_threshold")
    assert "retry-after" in answer.headers
    assert (await send(post, SENDER)).status == 200


async def test_mail_beyond_the_limit_of_the_domain_is_only_refused(post: Post):
    await fill_domain(post.api, but=3)
    answer = await send(post, 4)
    assert (answer.status, answer.code, reason(answer)) == (429, "RATE_LIMIT_EXCEEDED", "domain_rate")
    assert answer.json["error"]["details"]["limit"] == DOMAIN
    assert (await send(post, 3)).status == 200
    assert reason(await send(post)) == "domain_rate"
    assert (await post.api.sue.get("/abuse/suspensions")).data == []
    assert await count(post.api, SendCharge(parse_address(f"a@{OTHER}"), DOMAIN_IDS[OTHER], SENDER)) == [None]


async def test_the_hour_rolls_by_the_minute(api: Api):
    """All but one recipient at 12:00:00, the last at 12:30:20; they expire at 13:01 and at 13:31."""
    await fill_domain(api, but=1)
    api.clock.advance(minutes=30, seconds=20)
    assert await count(api, use("d", 1)) == [None]
    assert await wait(api, use("e", SENDER)) == 30 * 60 + 40
    api.clock.advance(minutes=30, seconds=39)
    assert await wait(api, use("e", 1)) == 1
    api.clock.advance(seconds=1)
    assert await count(api, use("e", SENDER), use("f", SENDER), use("g", 4)) == [None] * 3
    assert await wait(api, use("g", 1)) == 30 * 60
    assert await wait(api, use("g", 2)) == 61 * 60


async def test_counts_from_a_clock_that_is_far_ahead_are_ignored(api: Api):
    api.clock.advance(minutes=5)
    assert await count(api, use("a", SENDER)) == [None]
    api.clock.advance(minutes=-5)
    assert await count(api, use("a", 1)) != [None]
    api.clock.advance(hours=-2)
    assert await count(api, use("b", SENDER), use("c", SENDER), use("d", 5)) == [None] * 3


async def test_parallel_calls_do_not_exceed_the_senders_limit(post: Post):
    answers = await asyncio.gather(*(send(post) for _ in range(40)))
    assert Counter(answer.status for answer in answers) == {200: SENDER, 429: 1, 403: 29}
    assert len(await post.caught()) == SENDER
    assert len(await post.api.audit_entries("sender.suspend")) == 1


async def test_parallel_calls_do_not_exceed_the_domains_limit(post: Post):
    answers = await asyncio.gather(*(send(post, 1, f"sender{n % 8}") for n in range(48)))
    assert Counter(answer.status for answer in answers) == {200: DOMAIN, 429: 48 - DOMAIN}
    assert (await counts(post.api))[EXAMPLE] == DOMAIN


async def test_concurrent_batches_neither_deadlock_nor_miscount(api: Api):
    rng = random.Random(7)
    senders = [f"sender{n}" for n in range(6)]

    async def batch() -> list[tuple[str, bool]]:
        wanted = [use(rng.choice(senders), 1) for _ in range(5)]
        refusals = await count(api, *wanted)
        return [(each.sender.local_part, not refusal) for each, refusal in zip(wanted, refusals, strict=True)]

    done = [each for judged in await asyncio.gather(*(batch() for _ in range(30))) for each in judged]
    out = Counter(sender for sender, went in done if went)
    assert out.total() == DOMAIN
    assert max(out.values()) <= SENDER
    assert await counts(api) == dict(out) | {EXAMPLE: DOMAIN}


async def test_a_batch_is_counted_in_its_order(post: Post):
    items = [mail("shop", 4), mail("shop", 11), mail("shop", 4), mail("shop", 4), mail("shop", 1), mail("other", 3)]
    answer = await post.api.sue.post("/send/batch", {"messages": items})
    assert answer.status == 200
    results = answer.data["results"]
    assert [each.get("code") for each in results] == [
        None, "RATE_LIMIT_EXCEEDED", None, "RATE_LIMIT_EXCEEDED", "MAILBOX_SUSPENDED", None,
    ]  # fmt: skip
    assert [(each.get("details") or {}).get("reason") for each in results[1:4]] == [
        "message_above_threshold", None, "sender_rate",
    ]  # fmt: skip
    assert await counts(post.api) == {"shop": 8, "other": 3, EXAMPLE: 11}


async def test_mail_refused_by_the_relay_is_not_counted(post: Post):
    await post.api.sql("DELETE FROM dkim_keys")
    for _ in range(3):
        assert (await send(post, SENDER)).code == "SEND_FAILED"
    assert await counts(post.api) == {"shop": 0, EXAMPLE: 0}


class Failing:
    """A relay that loses every message, before or after its final dot."""

    size = 4

    def __init__(self, *submitted: str) -> None:
        self.submitted = list(submitted)

    async def submit(self, *_: Any, **__: Any) -> Any:
        raise ConnectionLost("gone", "body", submitted=cast(Any, self.submitted.pop(0)))


async def test_lost_mail_is_not_counted_mail_with_unknown_outcome_is(post: Post):
    pool, post.api.app.mta = post.api.app.mta, cast(SmtpPool, Failing("no", "unknown", "no"))
    answer = await post.api.sue.post("/send/batch", {"messages": [mail("shop", 2), mail("shop", 3), mail("other", 4)]})
    post.api.app.mta = pool
    assert [each["code"] for each in answer.data["results"]] == ["SEND_FAILED"] * 3
    assert await counts(post.api) == {"shop": 3, "other": 0, EXAMPLE: 3}


async def test_uncounting_reduces_the_count_of_the_mailbox(post: Post):
    await post.api.mailbox(f"shop@{EXAMPLE}")
    pool, post.api.app.mta = post.api.app.mta, cast(SmtpPool, Failing("no"))
    assert (await send(post, 3, "shop+1")).code == "SEND_FAILED"
    post.api.app.mta = pool
    assert await counts(post.api) == {"shop": 0, EXAMPLE: 0}


async def test_suspension_and_rate_limit_precede_sending_not_configured(post: Post):
    assert (await send(post, SENDER - 1)).status == 200
    pool, post.api.app.mta = post.api.app.mta, None
    answers = [await send(post, 1), await send(post, 1), await send(post, 2), await send(post, 1)]
    post.api.app.mta = pool
    assert [answer.status for answer in answers] == [503, 503, 429, 403]
    assert await counts(post.api) == {"shop": SENDER - 1, EXAMPLE: SENDER - 1}


async def test_a_sender_beyond_its_limit_has_one_alert_until_its_suspension_is_lifted(post: Post):
    async def look() -> list[tuple[str, str, str, str]]:
        await sender_checks.check_again(post.api.app)
        rows = (await post.api.adam.get("/abuse/alerts")).data
        return [(each["kind"], each["subject"], each["severity"], each["state"]) for each in rows]

    mailbox = await post.api.mailbox(f"shop@{EXAMPLE}")
    await send(post, SENDER)
    await send(post)
    await send(post)
    alert = ("sender_rate", f"shop@{EXAMPLE}", "critical")
    assert await look() == [(*alert, "open")]
    post.api.clock.advance(minutes=90)
    assert await look() == [(*alert, "open")]
    assert (await post.api.adam.post(f"/mailboxes/{mailbox}/unsuspend")).status == 200
    assert await look() == [(*alert, "open")]
    post.api.clock.advance(minutes=61)
    assert await look() == [(*alert, "resolved")]


async def test_a_suspension_that_outlasts_its_alert_opens_no_other_one(post: Post):
    async def look() -> list[str]:
        await sender_checks.check_again(post.api.app)
        return [each["state"] for each in (await post.api.adam.get("/abuse/alerts")).data]

    await send(post, SENDER)
    await send(post)
    [alert] = (await post.api.adam.get("/abuse/alerts")).data
    assert (await post.api.adam.post(f"/abuse/alerts/{alert['id']}/resolve", {})).data["unsuspended"] is False
    post.api.clock.advance(minutes=61)
    assert (await look(), (await send(post)).code) == (["resolved"], "MAILBOX_SUSPENDED")
    [suspension] = (await post.api.adam.get("/abuse/suspensions")).data
    await post.api.adam.delete(f"/abuse/suspensions/{suspension['id']}")
    await send(post, SENDER)
    await send(post)
    assert sorted(await look()) == ["open", "resolved"]


@pytest.mark.parametrize("by_mailbox", [True, False])
async def test_lifting_a_suspension_resets_the_senders_count(post: Post, by_mailbox: bool):
    mailbox = await post.api.mailbox(f"shop@{EXAMPLE}")
    await send(post, SENDER)
    await send(post)
    if by_mailbox:
        assert (await post.api.adam.post(f"/mailboxes/{mailbox}/unsuspend")).status == 200
    else:
        [shown] = (await post.api.adam.get("/abuse/suspensions")).data
        assert (await post.api.adam.delete(f"/abuse/suspensions/{shown['id']}")).status == 200
    assert await counts(post.api) == {EXAMPLE: SENDER}
    assert (await send(post, SENDER)).status == 200
    assert reason(await send(post)) == "sender_rate"


async def test_uncounting_after_a_lift_does_not_go_below_zero(api: Api):
    await count(api, use("a", 5))
    await api.sql("DELETE FROM send_counts WHERE subject <> 'example.test'")
    await count(api, use("a", 1))
    async with api.app.db.tx() as conn:
        await service.uncount(conn, [(api.clock(), use("a", 2)), (api.clock(), use("a", 3))])
    assert await counts(api) == {"a": 0, EXAMPLE: 1}


async def test_a_concurrently_deleted_domain_leaves_no_counts(api: Api):
    ghost = SendCharge(parse_address("a@gone.test"), await api.domain("gone.test"), SENDER)
    assert await count(api, ghost) == [None]
    await api.sql("DELETE FROM domains WHERE name = 'gone.test'")
    assert await api.sql("SELECT FROM send_counts") == []
    assert await count(api, ghost) == [None]  # checked before the deletion
    [refusal] = await count(api, ghost)
    assert isinstance(refusal, RateLimitExceeded)
    assert await api.audit_entries("sender.suspend") == []


async def test_clean_up_deletes_expired_counts(post: Post):
    api = post.api
    await count(api, use("a", 2))
    api.clock.advance(hours=1, minutes=30)
    await count(api, use("a", 1))
    await housekeeping(api.app)
    assert (await counts(api))["a"] == 3
    api.clock.advance(hours=1)
    await housekeeping(api.app)
    assert await counts(api) == {"a": 1, EXAMPLE: 1}
