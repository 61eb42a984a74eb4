"""Cases written from the documents and RFCs alone: what an attacker tries, and what an unlucky sender meets.

Each row says why the outcome is right. Outcomes: `554` and `451` (at the end of DATA), `inbox`, `junk`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import dkim
import pytest

EVIL, TRUSTED, ESP, VICTIM = "198.51.100.77", "203.0.113.200", "203.0.113.41", "203.0.113.42"
"""The clients of evil.test, of an allowed network, of include.test and of victim.github.io."""
FAIR, LOW = "alice@lab.test", -20
ALLOWED = (
    "good.test", "mailer.test", "nodmarc.test", "strict.test", "include.test", "soft.test", "neutral.test", "half.test",
    "keyless.test", "spfbroken.test", "victim.github.io", "orgsp.org", "allied.org", "mx.remote.test",
)  # fmt: skip


@dataclass
class Case:
    """A message to alice. `head`: the lines with the author; `sign`: the domains that sign it."""

    why: str
    expected: str
    head: str
    mail_from: str = "x@evil.test"
    client: str = EVIL
    score: int | None = 17
    sign: tuple[str, ...] = ()
    fields: str = ""
    spoil: bool = False
    """Change the message after it was signed."""
    subject: str = ""


def outcomes(lab: Any, cases: Iterable[Case]) -> dict[str, str]:
    """Send all, then look for those that were accepted."""
    results: dict[str, str] = {}
    accepted: list[Case] = []
    for case in cases:
        case.subject = str(uuid4())
        content = lab.build("", score=case.score, fields=case.fields, subject=case.subject)
        content = f"{case.head}\r\n".encode("utf-8", "surrogateescape") + content
        for domain in case.sign:
            signed = [b"from", b"to", b"subject"]
            content = dkim.sign(content, b"s1", domain.encode(), lab.pem, include_headers=signed) + content
        if case.spoil:
            content = content.replace(b"Hello, this", b"Hullo, this")
        replies = lab.send(case.client, case.mail_from, [FAIR], content)
        reply = replies.get("data", replies[FAIR])
        if reply.startswith("250"):
            accepted.append(case)
        else:
            results[case.why] = reply[:3]
    for case in accepted:
        folder = lab.find("alice", case.subject).split(b"\n", 1)[0]
        results[case.why] = "junk" if folder.endswith(b"Junk") else "inbox"
    return results


def check(lab: Any, cases: Iterable[Case]) -> None:
    cases = list(cases)
    found = outcomes(lab, cases)
    expected = {case.why: case.expected for case in cases}
    wrong = [f"{why}: {outcome}" for why, outcome in found.items() if outcome != expected[why]]
    assert not wrong, "\n".join(wrong)


@pytest.fixture(scope="module")
def world(lab: Any) -> Any:
    """The instance with more senders in its DNS."""
    lab.add_sender("evil.test", EVIL, "reject")
    for name in ("good.test.evil.test", "xgood.test", "xn--gd-fmca.test", "attacker.github.io", "evil-list.test"):
        lab.add_sender(name, EVIL, "reject" if name != "attacker.github.io" else None)
    lab.add_sender("victim.github.io", VICTIM, None)
    lab.add_sender("list.test", EVIL, None)
    lab.add_sender("strict.test", VICTIM, "reject; adkim=s; aspf=s")
    lab.add_sender("mail.strict.test", EVIL, None)
    lab.add_sender("allied.org", VICTIM, "reject")  # Rspamd knows organisations below listed top-level domains only
    lab.add_sender("orgsp.org", VICTIM, "none; sp=reject")
    lab.add_sender("sub.orgsp.org", VICTIM, None)
    lab.add_sender("include.test", ESP, None)
    lab.dns.publish("include.test", "TXT", "v=spf1 include:_spf.esp.test -all")
    lab.dns.publish("_spf.esp.test", "TXT", f"v=spf1 ip4:{ESP} -all")
    lab.add_sender("esp.test", ESP, None)
    lab.dns.publish("soft.test", "TXT", "v=spf1 ~all")
    lab.dns.publish("neutral.test", "TXT", "v=spf1 ?all")
    lab.add_sender("half.test", VICTIM, None)
    lab.dns.fail("_dmarc.half.test", "servfail")
    lab.dns.publish("keyless.test", "TXT", "v=spf1 -all")
    lab.dns.fail("s1._domainkey.keyless.test", "servfail")
    lab.dns.publish("spfbroken.test", "TXT", "v=spf1 include:broken.test -all")
    lab.dns.publish("mx.remote.test", "TXT", f"v=spf1 ip4:{EVIL} -all")
    return lab


DENIED = (
    Case("a trailing dot names the same domain", "554", "From: x@bad.test."),
    Case("a sub-domain, two levels down", "554", "From: x@a.b.bad.test"),
    Case("a local part in other case", "554", "From: OFFERS@spam.test"),
    Case("a quoted local part is the same (RFC 5321, 4.1.2)", "554", 'From: "offers"@spam.test'),
    Case("comments are no part of the address", "554", "From: (ann@good.test) offers@(at home)spam.test (Ann)"),
    Case("obsolete spaces around the dots (RFC 5322, 4.4)", "554", "From: offers @ spam . test"),
    Case("an obsolete route (RFC 5322, 4.4)", "554", "From: <@a.test,@b.test:offers@spam.test>"),
    Case("a space before the colon (RFC 5322, 4.5)", "554", "X-First: line\r\nFrom : offers@spam.test"),
    Case("a folded field", "554", "FROM:\r\n\t=?utf-8?q?A_Friend?=\r\n <offers@spam.test>"),
    Case("a name in Latin-1", "554", 'From: "M\udcfcller" <offers@spam.test>'),
    Case("the domain in UTF-8 (RFC 6532)", "554", "From: x@bücher.test"),
    Case("the domain in UTF-8, upper case", "554", "From: x@BÜCHER.Test"),
    Case("the domain in ASCII form, upper case", "554", "From: x@XN--BCHER-KVA.test"),
    Case("the first of two authors", "554", "From: offers@spam.test, y@evil.test"),
    Case("the second of two authors", "554", "From: y@evil.test, offers@spam.test"),
    Case("the first of two From fields", "554", "From: offers@spam.test\r\nFrom: y@evil.test"),
    Case("the second of two From fields", "554", "From: y@evil.test\r\nFrom: offers@spam.test"),
    Case("a name of 48 KB", "554", f'From: "{"a b c d e f " * 4000}" <offers@spam.test>'),
    Case("a byte that is not UTF-8 in the address", "554", "From: x\udcff@bad.test"),
    Case("no closing bracket", "554", "From: Ann <offers@spam.test"),
    Case("a group (RFC 6854)", "554", "From: Team: offers@spam.test;"),
    Case(
        "300 KB of fields before it",
        "554",
        "X-Filler: " + "z" * 900 + ("\r\nX-Filler: " + "z" * 900) * 330 + "\r\nFrom: offers@spam.test",
    ),
    Case("of a bounce", "554", "From: mailer-daemon@bad.test", mail_from=""),
    Case(
        "a client in an allowed network does not precede an address of the same list",
        "554",
        "From: offers@spam.test",
        client=TRUSTED,
    ),
)
NOT_DENIED = (
    Case("another domain with that end", "inbox", "From: x@notbad.test"),
    Case("a domain below another one", "inbox", "From: x@bad.test.evil.test"),
    Case("a tag of another server is another address", "inbox", "From: offers+1@spam.test"),
    Case("an address in an encoded name", "inbox", "From: =?utf-8?q?offers=40spam=2Etest?= <x@evil.test>"),
    Case("an address in a name", "inbox", 'From: "offers@spam.test" <x@evil.test>'),
    Case("a percent sign in the local part", "inbox", "From: offers%spam.test@evil.test"),
    Case("an address literal", "inbox", "From: x@[192.0.2.9]"),
    Case(
        "Sender, Reply-To, Resent-From are not the author",
        "inbox",
        "From: x@evil.test\r\nSender: offers@spam.test\r\nReply-To: offers@spam.test\r\nResent-From: x@bad.test",
    ),
    Case("no author", "inbox", "X-Nothing: here"),
    Case("a field From without an address", "inbox", "From: undisclosed-senders:;"),
)


def test_denied_authors(world: Any) -> None:
    """Deny entries hold in every spelling of an address, and for no other address, also at a very low score."""
    world.set_policy(alice={"entries": [("allow", "network", f"{TRUSTED}/32")]})
    for kind, value in (("domain", "Bad.test"), ("domain", "bücher.test"), ("address", "offers@spam.test")):
        world.stack.do(
            "POST", f"/mailboxes/{world.ids['alice']}/filtering/entries", {"list": "deny", "kind": kind, "value": value}
        )
    for case in (*DENIED, *NOT_DENIED):
        case.score = LOW
    check(world, (*DENIED, *NOT_DENIED))


PROOFS = (
    Case(
        "a look-alike above the allowed name, itself proved",
        "554",
        "From: ann@good.test.evil.test",
        "x@good.test.evil.test",
        sign=("good.test.evil.test",),
    ),
    Case("Cyrillic letters", "554", "From: ann@gооd.test", "x@evil.test", sign=("xn--gd-fmca.test",)),
    Case(
        "two From fields, the signed one last",
        "554",
        "From: x@evil.test\r\nFrom: ann@good.test",
        sign=("good.test", "evil.test"),
    ),
    Case("two addresses in angle brackets", "554", "From: <ann@good.test> <x@evil.test>", sign=("evil.test",)),
    Case("no author, proved sender", "554", "X-Nothing: here", "bounce@list.test"),
    Case(
        "a sub-domain under the organisation's DMARC, relaxed",
        "inbox",
        "From: ann@news.allied.org",
        sign=("allied.org",),
    ),
    Case("SPF for the organisation, relaxed", "inbox", "From: ann@news.allied.org", "b@allied.org", VICTIM),
    Case("adkim=s: signed by a sub-domain", "554", "From: ann@strict.test", sign=("mail.strict.test",)),
    Case("aspf=s: sent by a sub-domain", "554", "From: ann@strict.test", "b@mail.strict.test", EVIL),
    Case("adkim=s: signed by the domain itself", "inbox", "From: ann@strict.test", sign=("strict.test",)),
    Case("sp=reject at the organisation: unsigned sub-domain", "554", "From: ann@other.orgsp.org", "bounce@list.test"),
    Case("p=none fails as well", "554", "From: ann@mailer.test", "bounce@list.test"),
    Case("a third party's signature", "554", "From: ann@nodmarc.test", sign=("evil.test",)),
    Case(
        "a third party's and the author's signature",
        "inbox",
        "From: ann@nodmarc.test",
        sign=("evil.test", "nodmarc.test", "mailer.test"),
    ),
    Case("a changed body", "554", "From: ann@good.test", sign=("good.test",), spoil=True),
    Case(
        "a changed body, but SPF",
        "inbox",
        "From: ann@good.test",
        "b@good.test",
        "203.0.113.10",
        sign=("good.test",),
        spoil=True,
    ),
    Case("SPF by include", "inbox", "From: ann@include.test", "b@include.test", ESP),
    Case("SPF of the provider that is included, not of the author", "554", "From: ann@include.test", "b@esp.test", ESP),
    Case("softfail proves nothing", "554", "From: ann@soft.test", "b@soft.test"),
    Case("neutral proves nothing", "554", "From: ann@neutral.test", "b@neutral.test"),
    Case(
        "the domain below a public suffix itself", "inbox", "From: ann@victim.github.io", "b@victim.github.io", VICTIM
    ),
    Case("an allowed envelope, its author without DMARC", "inbox", "From: ann@nodmarc.org", "bounce@list.test"),
    Case("an allowed envelope, a forged author with DMARC", "554", "From: ann@evil-list.test", "bounce@list.test"),
    Case("an allowed envelope without SPF", "554", "From: ann@nodmarc.org", "bounce@list.test", VICTIM),
    Case("an allowed network proves by itself", "inbox", "From: forged@good.test", "x@evil.test", TRUSTED),
    Case(
        "fields that claim a pass",
        "554",
        "From: ann@good.test",
        fields=(
            "Authentication-Results: mx.stack.test; dmarc=pass header.from=good.test\r\n"
            "X-Rspamd-Auth: spf=pass; dkim=pass; dmarc=pass; from=pass\r\n"
            "X-Rspamd-Author: ann@good.test\r\n"
            "Received-SPF: pass\r\n"
        ),
    ),
    Case(
        "an ARC set that claims a pass",
        "554",
        "From: ann@good.test",
        fields=(
            "ARC-Seal: i=1; a=rsa-sha256; cv=none; d=evil.test; s=s1; b=AAAA\r\n"
            "ARC-Message-Signature: i=1; a=rsa-sha256; d=evil.test; s=s1; h=from; bh=AAAA; b=AAAA\r\n"
            "ARC-Authentication-Results: i=1; mx.stack.test; dmarc=pass header.from=good.test\r\n"
        ),
    ),
    Case(
        "a bounce without a sender: SPF of the host name (RFC 7208, 2.4)",
        "inbox",
        "From: postmaster@mx.remote.test",
        "",
    ),
    Case("a bang path of an allowed domain", "554", "From: good.test!ann@evil.test", sign=("evil.test",)),
)
UNKNOWN = (
    Case("the DMARC record can't be read, SPF passes", "451", "From: ann@half.test", "b@half.test", VICTIM),
    Case("the author's key can't be read", "451", "From: ann@keyless.test", sign=("keyless.test",)),
    Case("SPF of the author can't be read", "451", "From: ann@spfbroken.test", "b@spfbroken.test"),
    Case("nothing to defer for: the score is junk", "junk", "From: ann@half.test", "b@half.test", VICTIM, score=8),
    Case("nothing to defer for: no entry for that author", "554", "From: ann@broken.test", "b@broken.test"),
    Case(
        "a stranger's key can't be read, SPF proves the author",
        "inbox",
        "From: ann@nodmarc.test",
        "b@nodmarc.test",
        "203.0.113.20",
        sign=("keyless.test",),
    ),
    Case("a stranger's key can't be read, the author is forged", "554", "From: ann@good.test", sign=("keyless.test",)),
)


def test_allowed_only_if_proved(world: Any) -> None:
    """An allow entry applies at a score that is refused otherwise, if author, sender or network is proved."""
    entries = [("allow", "domain", name) for name in ALLOWED]
    entries += [("allow", "address", "bounce@list.test"), ("allow", "network", f"{TRUSTED}/32")]
    world.set_policy(alice={"entries": entries})
    check(world, (*PROOFS, *UNKNOWN))
