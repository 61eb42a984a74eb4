"""What happens to a message, by score, lists and proof of the author: replies, mailboxes and header fields."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import pytest

from tests.stack.harness import HOSTNAME, eventually


class Lab(Protocol):
    """`conftest.Filtering`."""

    ids: dict[str, Any]
    stack: Any

    def set_policy(self, **scopes: dict[str, Any]) -> None: ...
    def build(
        self, author: str, *, score: int | None = None, sign: str | None = None, fields: str = "", subject: str = ""
    ) -> bytes: ...
    def send(self, client: str, mail_from: str, recipients: list[str], content: bytes) -> dict[str, str]: ...
    def find(self, mailbox: str, subject: str) -> bytes: ...


GOOD, MAILER, PLAIN, STRANGER = "203.0.113.10", "203.0.113.30", "203.0.113.20", "198.51.100.66"
ANN, BO, EVIL = "ann@good.test", "bo@nodmarc.test", "evil@mailer.test"
REFUSED, DEFERRED = "554", "451"


@dataclass(frozen=True)
class Case:
    """A message of ann@good.test, signed and from her server, unless changed. `to`: where each copy ends, by mailbox,
    or the code of the reply at the end of DATA. `rcpt`: mailboxes refused at RCPT.
    """

    name: str
    to: dict[str, str] | str
    policy: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    author: str = f"Ann <{ANN}>"
    mail_from: str = ANN
    client: str = GOOD
    sign: str | None = "good.test"
    score: int | None = None
    fields: str = ""
    rcpt: tuple[str, ...] = ()
    recipients: tuple[str, ...] = ("alice",)


def lists(*rules: tuple[Any, ...]) -> dict[str, Any]:
    return {"entries": rules}


OFF = {"junk": 0, "reject": 0}
ALLOW_ANN = {"alice": lists(("allow", "address", ANN))}
NEVER_REFUSED = {"alice": lists(("allow", "address", ANN)) | {"reject": 0}}
ALLOW_BO = {"alice": lists(("allow", "address", BO))}
THREE = ("alice", "bob", "carol")
INBOX, JUNK = {"alice": "INBOX"}, {"alice": "Junk"}

CASES = [
    Case("plain", INBOX),
    Case("score 8 with three thresholds", {"alice": "Junk", "bob": "INBOX", "carol": "INBOX"},
         {"bob": {"junk": 0}, "carol": {"junk": 20}}, score=8, recipients=THREE),
    Case("score 17, refused by one of three", {"alice": "Junk", "bob": "INBOX", "carol": "Junk"},
         {"bob": OFF, "carol": {"reject": 0}}, score=17, recipients=THREE),
    Case("score 17, refused by the only one", REFUSED, score=17),
    Case("the same with its threshold off", JUNK, {"alice": {"reject": 0}}, score=17),
    Case("the domain's thresholds off", INBOX, {"lab": OFF}, score=17),
    Case("a denied address, for one of two", {"bob": "INBOX"}, {"alice": lists(("deny", "address", ANN))},
         recipients=("alice", "bob"), rcpt=("alice",)),
    Case("a denied domain, and a sub-domain of it", {}, {"lab": lists(("deny", "domain", "good.test"))},
         author="x <x@news.good.test>", mail_from="x@news.good.test", sign=None, rcpt=("alice",)),
    Case("a network enforced by the server", {},
         {"server": lists(("deny", "network", "203.0.113.0/28", True)), **ALLOW_ANN}, rcpt=("alice",)),
    Case("a denied author with another envelope", REFUSED, {"alice": lists(("deny", "address", ANN))},
         mail_from="bounce@mailer.test", client=MAILER),
    Case("the same, for one of two", {"alice": "Junk", "bob": "INBOX"}, {"alice": lists(("deny", "address", ANN))},
         mail_from="bounce@mailer.test", client=MAILER, recipients=("alice", "bob")),
    Case("allowed, DKIM and SPF", INBOX, ALLOW_ANN, score=30),
    Case("allowed, but forged", REFUSED, ALLOW_ANN, client=STRANGER, sign=None, score=30),
    Case("allowed, forged, low score", INBOX, ALLOW_ANN, client=STRANGER, sign=None, score=-20),
    Case("forged by somebody with SPF and DKIM of their own", REFUSED, ALLOW_ANN, mail_from=EVIL, client=MAILER,
         sign="mailer.test", score=30),
    Case("two addresses in From", REFUSED, ALLOW_ANN, author=f"{ANN}, {EVIL}", mail_from=EVIL, client=MAILER,
         sign="mailer.test", score=30),
    Case("allowed, forwarded, so only DKIM", INBOX, ALLOW_ANN, mail_from="fwd@mailer.test", client=MAILER, score=30),
    Case("allowed, without DMARC, by SPF", INBOX, ALLOW_BO, author=BO, mail_from=BO, client=PLAIN, sign=None, score=30),
    Case("allowed, without DMARC, by DKIM", INBOX, ALLOW_BO, author=BO, mail_from="", client=STRANGER,
         sign="nodmarc.test", score=30),
    Case("without DMARC, forged", REFUSED, ALLOW_BO, author=BO, mail_from=BO, client=STRANGER, sign=None, score=30),
    # A suffix that the list of public suffixes has.
    Case("a sub-domain signed by its organisation", INBOX, {"alice": lists(("allow", "domain", "nodmarc.org"))},
         author="bo@x.nodmarc.org", mail_from="", client=STRANGER, sign="nodmarc.org", score=30),
    Case("the sender's DNS fails", DEFERRED, {"alice": lists(("allow", "domain", "broken.test"))},
         author="k@broken.test", mail_from="k@broken.test", client=STRANGER, sign=None, score=30),
    Case("an allowed network", INBOX, {"alice": lists(("allow", "network", "198.51.100.0/24"))},
         author="z@nowhere.test", mail_from="z@nowhere.test", client=STRANGER, sign=None, score=30),
    Case("allowed by one of two", {"alice": "INBOX", "bob": "Junk"}, ALLOW_ANN, score=30, recipients=("alice", "bob")),
    Case("without an envelope sender", INBOX, author="MAILER-DAEMON@good.test", mail_from="", sign=None, score=-20),
    Case("the domain denies, the mailbox allows", INBOX,
         {"lab": lists(("deny", "domain", "good.test")), **ALLOW_ANN}),
    Case("the same, forged", REFUSED, {"lab": lists(("deny", "domain", "good.test")), **ALLOW_ANN}, client=STRANGER,
         sign=None, score=-20),
    Case("two From fields, the first is authentic", JUNK, NEVER_REFUSED, score=8, fields=f"From: {EVIL}\r\n"),
    Case("an allowed address as a quoted name", JUNK, ALLOW_ANN, author=f'"{ANN}" <{EVIL}>', mail_from=EVIL,
         client=MAILER, sign="mailer.test", score=8),
    Case("an allowed address as a name", JUNK, ALLOW_ANN, author=f"{ANN} <{EVIL}>", mail_from=EVIL, client=MAILER,
         sign="mailer.test", score=8),
    # Not from the lab: forms of From that programs read differently, all signed by the sender who forges them.
    Case("a group", JUNK, ALLOW_ANN, author=f"friends: {ANN};", mail_from=EVIL, client=MAILER, sign="mailer.test",
         score=8),
    Case("a comment", JUNK, ALLOW_ANN, author=f"{ANN} (<{EVIL}>)", score=8),
    Case("an encoded word with an address", JUNK, ALLOW_ANN, author=f"=?utf-8?q?Ann_=3Cann=40good.test=3E?= <{EVIL}>",
         mail_from=EVIL, client=MAILER, sign="mailer.test", score=8),
    Case("a quoted local part", JUNK, {"alice": lists(("allow", "domain", "good.test"))},
         author='"ann@good.test>"@mailer.test', mail_from=EVIL, client=MAILER, sign="mailer.test", score=8),
    Case("a From field that only lenient programs read", JUNK, NEVER_REFUSED, score=8, fields=f"From : {EVIL}\r\n"),
    Case("a look-alike domain", JUNK, {"alice": lists(("allow", "domain", "odmarc.test"))}, author=BO, mail_from=BO,
         client=PLAIN, sign="nodmarc.test", score=8),
    Case("another organisation with the same public suffix", JUNK, {"alice": lists(("allow", "domain", "bank.co.uk"))},
         author="bo@bank.co.uk", mail_from="bo@other.co.uk", client=PLAIN, sign="other.co.uk", score=8),
    Case("a denied author with a comment", REFUSED, {"alice": lists(("deny", "address", ANN))},
         author=f"{ANN} (Ann)", mail_from=EVIL, client=MAILER, sign=None),
    Case("a denied author, quoted, for one of two", {"alice": "Junk", "bob": "INBOX"},
         {"alice": lists(("deny", "address", ANN))}, author=f'{EVIL}, "ann" @good.test.', mail_from=EVIL, client=MAILER,
         sign=None, score=-20, recipients=("alice", "bob")),
    Case("a From field that takes long to read", JUNK, ALLOW_ANN, author=f"x{' ' * 20_000}y <{ANN}>", score=8),
    Case("more header fields than we parse", JUNK, score=8, fields="X-Long: 1\r\n" * 3_000),
    Case("a larger header than we parse", JUNK, score=8, fields=f"X-Long: {'a' * 900}\r\n" * 300),
    Case("a denied domain in another spelling", REFUSED, {"alice": lists(("deny", "domain", "good.test"))},
         author=f"Ann <{ANN.upper()}>", mail_from=EVIL, client=MAILER, score=8),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_where_a_message_goes(lab: Lab, case: Case) -> None:
    lab.set_policy(**case.policy)
    subject = f"Case {CASES.index(case)}"
    content = lab.build(case.author, score=case.score, sign=case.sign, fields=case.fields, subject=subject)
    addresses = {f"{name}@lab.test": name for name in case.recipients}
    replies = lab.send(case.client, case.mail_from, list(addresses), content)
    refused = {name for address, name in addresses.items() if replies[address].startswith("550 5.7.1")}
    assert refused == set(case.rcpt), replies
    if isinstance(case.to, str):
        assert replies["data"].startswith(case.to), replies
        return
    if case.to:
        assert replies["data"].startswith("250"), replies
    found = {name: lab.find(name, subject) for name in case.to}
    assert {name: folder_of(mail) for name, mail in found.items()} == case.to


def folder_of(mail: bytes) -> str:
    return mail.partition(b"\n")[0].removeprefix(b"X-Folder: ").decode()


def test_no_verdict_of_others_is_in_the_message_or_counts(lab: Lab) -> None:
    lab.set_policy(alice={"junk": 0})
    forged = (
        "X-Spam: Yes\r\nx-SPAM-flag: YES\r\nX-Spam-Status: Yes,\r\n score=99\r\nX-Spamd-Bar: +++++\r\nX-Spam : Yes\r\n"
        f"X-Rspamd-Score: -50\r\nX-Rspamd-Auth: from=pass\r\nX-Rspamd-Author: boss@lab.test\r\nX-Virus-Scanned: ok\r\n"
        f"X-Mailkeep-Verdict: inbox\r\nX-Mailkeep-Sender: {'0' * 32} YUBiLnRlc3Q=\r\nX-Spam-{'Long' * 600}: Yes\r\n"
        f"Authentication-Results: {HOSTNAME}; dkim=pass header.d=bank.test\r\n"
        f"Authentication-Results: (c)\r\n {HOSTNAME.upper()} 1; dmarc=pass header.from=bank.test\r\n"
        "Authentication-Results: other.test; dkim=pass header.d=bank.test\r\n"
    )
    nested = "Content-Type: message/rfc822\r\n\r\nX-Spam: Yes\r\nX-Rspamd-Score: 4\r\nSubject: inner\r\n\r\nx\r\n"
    content = (
        b"From: ann@good.test\r\nSubject: Forged fields\r\nMIME-Version: 1.0\r\n"
        b'Content-Type: multipart/mixed; boundary="b"\r\n'
        + forged.encode()
        + b"\r\n--b\r\n"
        + nested.encode()
        + b"--b--\r\n"
    )
    assert lab.send(STRANGER, ANN, ["alice@lab.test"], content)["data"].startswith("250")
    head, _, body = lab.find("alice", "Forged fields").lower().partition(b"\n\n")
    for lost in (
        b"x-spam-",
        b"x-spam:",
        b"x-spam :",
        b"x-spamd-bar",
        b"-50",
        b"boss@",
        b"x-virus",
        b"bank.test",
        b"0" * 32,
    ):
        assert lost not in head, head.decode()
    assert head.count(b"\nauthentication-results:") == 1
    assert b"from=pass" not in head
    assert b"x-spam: yes\nx-rspamd-score: 4\nsubject: inner" in body


def test_deny_entries_never_refuse_mail_for_postmaster(lab: Lab) -> None:
    lab.set_policy(server=lists(("deny", "address", ANN)))
    lab.stack.do(
        "POST",
        "/aliases",
        {"domain_id": str(lab.ids["lab"]), "source_local_part": "abuse", "destination": "carol@lab.test"},
    )
    content = lab.build(ANN, sign="good.test", subject="To abuse")
    replies = lab.send(GOOD, ANN, ["abuse@lab.test", "carol@lab.test"], content)
    assert {name: reply[:3] for name, reply in replies.items()} == {
        "abuse@lab.test": "250", "carol@lab.test": "550", "data": "250",
    }  # fmt: skip
    assert folder_of(lab.find("carol", "To abuse")) == "Junk"


def test_a_recipient_refused_at_rcpt_is_among_the_junk_of_the_mailbox(lab: Lab) -> None:
    lab.set_policy(carol=lists(("deny", "address", "rcpt@good.test")))
    assert lab.send(GOOD, "rcpt@good.test", ["Carol+x@lab.test"], b"")["Carol+x@lab.test"].startswith("550")

    def find() -> list[Any]:
        junk = lab.stack.do("GET", f"/mailboxes/{lab.ids['carol']}/junk")
        return [each for each in junk if each["from"] == "rcpt@good.test"]

    (refused,) = eventually(find, what="the refused recipient in the history")
    assert (refused["result"], refused["decided_by"]["rule"]) == ("refused", "deny_entry")


def test_spam_is_not_forwarded(lab: Lab) -> None:
    lab.set_policy(lab={"junk": 7}, alice={"junk": 0, "reject": 0})
    body = {"domain_id": str(lab.ids["lab"]), "destination": "friend@remote.test"}
    lab.stack.do("POST", "/aliases", body | {"source_local_part": "away"})
    body |= {"destination": "alice@lab.test,friend@remote.test", "source_local_part": "both"}
    lab.stack.do("POST", "/aliases", body)
    spam = lab.build(ANN, sign="good.test", score=8, subject="Spam for both")
    assert lab.send(GOOD, ANN, ["away@lab.test"], spam)["data"].startswith(REFUSED)
    assert lab.send(GOOD, ANN, ["both@lab.test"], spam)["data"].startswith("250")
    assert folder_of(lab.find("alice", "Spam for both")) == "INBOX"
    assert lab.send(GOOD, ANN, ["away@lab.test"], lab.build(ANN, sign="good.test", score=-20))["data"].startswith("250")
    (arrived,) = lab.stack.arrived("friend@remote.test")
    assert b"Spam for both" not in arrived
