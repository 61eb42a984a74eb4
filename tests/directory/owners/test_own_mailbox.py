"""What owners do with their own mailbox."""

from __future__ import annotations

from datetime import timedelta

from mailkeep.core.clock import iso
from tests.plugins.post import LETTER, Post
from tests.support.client import EXAMPLE, OTHER, Api, Client, faults, reason

ALICE = f"alice@{EXAMPLE}"


async def test_the_forward_is_set_with_the_checks_of_administrators(api: Api):
    mailbox_id = await api.mailbox(ALICE)
    owner = await api.owner(mailbox_id)
    before = await owner.get("/me/forward")
    assert before.data == {"destinations": [], "keep_copy": True}
    api.clock.advance(seconds=1)
    body = {"destinations": [" Bob@Elsewhere.test ", "bob@elsewhere.test"], "keep_copy": False}
    changed = await owner("PUT", "/me/forward", body, headers={"if-match": before.headers["etag"]})
    assert changed.data == {"destinations": ["Bob@elsewhere.test"], "keep_copy": False}
    assert (await api.dora.get(f"/mailboxes/{mailbox_id}")).data["forward"] == changed.data
    stale = await owner("PUT", "/me/forward", body, headers={"if-match": before.headers["etag"]})
    assert stale.code == "PRECONDITION_FAILED"
    assert faults(await owner.put("/me/forward", {"destinations": ["x@elsewhere.test", "no"]})) == ["destinations[1]"]
    await api.alias(f"loop@{EXAMPLE}", [ALICE])
    assert reason(await owner.put("/me/forward", {"destinations": [f"loop@{EXAMPLE}"]})) == "alias_loop"
    assert (await owner.put("/me/forward", {})).data == {"destinations": [], "keep_copy": True}
    entries = [each for each in await api.audit_entries("mailbox.update") if each["outcome"] == "success"]
    assert [(each["actor_type"], each["resource_id"]) for each in entries] == [("mailbox", str(mailbox_id))] * 2


async def test_the_owner_is_whoever_signs_in_also_for_an_administrators_mailbox(api: Api):
    """Dora can't change the mailbox of Sue, a super_admin; Sue can, as its owner."""
    mailbox_id = await api.mailbox(f"sue@{EXAMPLE}")
    vacation = {"text": "Away.", "active": False}
    assert (await api.dora.put(f"/mailboxes/{mailbox_id}/vacation", vacation)).code == "FORBIDDEN"
    owner = await api.owner(mailbox_id)
    assert (await owner.put("/me/vacation", vacation)).status == 200
    assert (await owner.get("/me/vacation")).data["text"] == "Away."
    assert (await owner.post("/me/app-passwords", {"name": "Phone"})).status == 201
    assert (await owner.delete("/me/vacation")).status == 200


async def test_app_passwords_are_created_once_for_a_key(api: Api):
    mailbox_id = await api.mailbox(ALICE)
    owner, key = await api.owner(mailbox_id), {"idempotency-key": "once"}
    answers = [await owner("POST", "/me/app-passwords", {"name": "Phone"}, headers=key) for _ in range(2)]
    assert [answer.status for answer in answers] == [201, 201]
    assert answers[0].data["password"].startswith("mk-")
    assert answers[1].data == answers[0].data | {"password": None}
    [listed] = (await owner.get("/me/app-passwords")).data
    assert listed["id"] == answers[0].data["id"]
    # Another owner's key is another key.
    other = await api.owner(await api.mailbox(f"bob@{EXAMPLE}"))
    created = await other("POST", "/me/app-passwords", {"name": "Phone"}, headers=key)
    assert created.data["id"] != listed["id"]
    assert (await other.delete(f"/me/app-passwords/{listed['id']}")).code == "NOT_FOUND"
    assert (await owner.delete(f"/me/app-passwords/{listed['id']}")).status == 200


async def test_sign_ins_are_listed_by_day_address_and_program(api: Api):
    mailbox_id = await api.mailbox(ALICE)
    browser = Client(api.pipeline, {"user-agent": "Firefox"})
    body = {"address": ALICE, "password": "correct horse battery staple"}
    first_at = iso(api.clock())
    assert (await browser.post("/me/login", body)).status == 200
    api.clock.advance(minutes=5)
    owner = browser.with_cookie((await browser.post("/me/login", body)).headers["set-cookie"])
    await api.mailbox(f"bob@{EXAMPLE}")
    await api.log_in_owner(f"bob@{EXAMPLE}")
    [entry] = (await owner.get("/me/logins")).data
    assert entry.items() >= {
        "protocol": "web", "ip": "192.0.2.1", "program": "Firefox", "first_at": first_at, "last_at": iso(api.clock()),
    }.items()  # fmt: skip
    assert (await api.dora.get(f"/mailboxes/{mailbox_id}")).data["last_login"]["at"] is None  # of mail clients
    api.clock.advance(days=1)
    owner = await api.log_in_owner(ALICE)
    assert len((await owner.get("/me/logins")).data) == 2
    assert len((await owner.get("/me/logins", limit=1)).data) == 1
    api.clock.advance(days=30)
    owner = await api.owner(mailbox_id)
    assert [each["program"] for each in (await owner.get("/me/logins")).data] == [""]


class TestMessages:
    async def test_received_junk_and_rejected_mail_of_the_own_mailbox_only(self, post: Post):
        api = post.api
        alice, bob = await api.mailbox(ALICE), await api.mailbox(f"bob@{EXAMPLE}")
        await post.deliver(ALICE)
        gtube = b"XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X"
        await post.deliver(ALICE, content=LETTER.replace(b"Hello", b"Buy").replace(b"Hi.", gtube))
        await self.reject(api, ALICE, "552 full")
        await self.reject(api, f"bob@{EXAMPLE}", "not for Alice")
        await post.deliver(f"bob@{EXAMPLE}")
        await post.send(**{"from": {"email": ALICE}})  # sent mail is not listed
        owner = await api.owner(alice)
        listed = (await owner.get("/me/messages")).data
        assert [each["result"] for each in listed] == ["rejected", "junk", "received"]
        assert [each["subject"] for each in listed[1:]] == ["Buy", "Hello"]
        assert [each["reason"] for each in listed] == ["552 full", None, None]
        for result in ("received", "junk", "rejected"):
            [only] = (await owner.get("/me/messages", result=result)).data
            assert only["result"] == result
        assert len((await (await api.owner(bob)).get("/me/messages")).data) == 2
        pages = [await owner.get("/me/messages", limit=2)]
        cursor = pages[0].json["meta"]["pagination"]["next_cursor"]
        pages.append(await owner.get("/me/messages", limit=2, cursor=cursor))
        assert [each["id"] for page in pages for each in page.data] == [each["id"] for each in listed]
        other = await (await api.owner(bob)).get("/me/messages", limit=2, cursor=cursor)
        assert other.code == "INVALID_PAGINATION"
        assert [each["id"] for each in (await owner.get("/me/messages", order="asc")).data] == [
            each["id"] for each in reversed(listed)
        ]

    async def test_only_of_the_last_days_and_not_of_an_earlier_mailbox(self, post: Post):
        api = post.api
        mailbox_id = await api.mailbox(ALICE)
        await post.deliver(ALICE)
        await self.reject(api, ALICE, "full")
        await api.sue.delete(f"/mailboxes/{mailbox_id}", purge="true")
        api.clock.advance(days=1)
        mailbox_id = await api.mailbox(ALICE)
        owner = await api.owner(mailbox_id)
        assert (await owner.get("/me/messages")).data == []
        await post.deliver(ALICE)
        api.clock.advance(days=8)
        assert (await owner.get("/me/messages")).data == []
        since = api.clock() - timedelta(days=9)
        assert len((await owner.get("/me/messages", since=iso(since))).data) == 1
        long_ago = iso(api.clock() - timedelta(days=31))
        assert faults(await owner.get("/me/messages", since=long_ago)) == ["since"]

    async def test_rejected_mail_of_whoever_had_the_address_before_is_not_shown(self, post: Post):
        api = post.api
        alice, boss = await api.mailbox(ALICE), f"boss@{EXAMPLE}"
        before = await api.mailbox(boss)
        await post.deliver(ALICE)
        await self.reject(api, ALICE, "for Alice")
        await self.reject(api, boss, "for the former boss")
        api.clock.advance(seconds=1)
        assert (await api.dora.delete(f"/mailboxes/{before}")).status == 200
        assert (await api.dora.patch(f"/mailboxes/{alice}", {"local_part": "boss"})).status == 200
        owner = await api.owner(alice, credentials_epoch=1)
        assert [each["result"] for each in (await owner.get("/me/messages")).data] == ["received"]
        await self.reject(api, boss, "for the new boss")
        assert (await owner.get("/me/messages")).data[0]["reason"] == "for the new boss"
        # The former one comes back from the trash.
        api.clock.advance(seconds=1)
        assert (await api.dora.patch(f"/mailboxes/{alice}", {"local_part": "alice"})).status == 200
        assert (await api.dora.post(f"/mailboxes/{before}/restore")).status == 200
        assert (await (await api.owner(before, credentials_epoch=1)).get("/me/messages")).data == []

    async def reject(self, api: Api, address: str, text: str) -> None:
        """A recipient that was refused at SMTP: the message belongs to no mailbox."""
        from mailkeep.features.mailflow.receiving.model import RejectedRecipient
        from mailkeep.features.mailflow.receiving.rejections import record_rejection

        rejected = RejectedRecipient("192.0.2.9", "someone@elsewhere.test", address, 552, "5.2.2", text)
        await record_rejection(api.app, rejected)


async def test_an_owner_reaches_nothing_else(api: Api):
    """Whatever IDs of other mailboxes or domains a call has: the permission matrix has all routes."""
    owner = await api.owner(await api.mailbox(ALICE))
    other = await api.mailbox(f"bob@{EXAMPLE}")
    far = await api.mailbox(f"bob@{OTHER}")
    for mailbox_id in (other, far):
        for path in ("", "/vacation", "/app-passwords", "/sieve", "/folders"):
            assert (await owner.get(f"/mailboxes/{mailbox_id}{path}")).code == "AUTH_REQUIRED"
    for path in ("/auth/me", "/domains", "/audit", "/messages", "/admins"):
        assert (await owner.get(path)).code == "AUTH_REQUIRED"
