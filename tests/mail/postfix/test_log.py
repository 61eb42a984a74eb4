"""Log lines of Postfix 3.7, and arbitrary bytes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from mailkeep.mail.postfix.log import (
    LogFact,
    LoggedAcceptance,
    LoggedClient,
    LoggedExpiry,
    LoggedHeader,
    LoggedMessageId,
    LoggedMove,
    LoggedNotification,
    LoggedPickup,
    LoggedRejection,
    LoggedRemoval,
    LogLine,
    PostfixAttempt,
    parse,
    parse_stamp,
)

_ID = "4jW9T1xz0bz1"
_HEAD = "Nov 20 10:01:02 mx postfix/"
_SMTP = f"{_HEAD}smtp[45]: {_ID}: "
_TIMES = "delay=1.5, delays=0.1/0/0.7/0.7"


def _fact(text: str) -> LogFact:
    line = parse(text.encode() + b"\n")
    assert line is not None, text
    return line.fact


_FACTS: list[tuple[str, LogFact]] = [
    (f"api/smtpd[42]: {_ID}: client=localhost[127.0.0.1]", LoggedClient("localhost", "127.0.0.1", None)),
    (
        f"submission/smtpd[42]: {_ID}: client=unknown[2001:db8::1]:4711, sasl_method=PLAIN, sasl_username=a@ex.test/17",
        LoggedClient("unknown", "2001:db8::1", "a@ex.test"),
    ),
    (f"pickup[42]: {_ID}: uid=0 from=<root>", LoggedPickup(None)),
    (f"pickup[42]: {_ID}: uid=0 from=<a@ex.test> orig_id=4jW9T1xz0bz2", LoggedPickup("4jW9T1xz0bz2")),
    (f"cleanup[43]: {_ID}: message-id=<1@ex.test>", LoggedMessageId("<1@ex.test>")),
    ("cleanup[43]: 3F2A1BCD05: message-id=<1@ex.test>", LoggedMessageId("<1@ex.test>")),
    (
        (f"submission/cleanup[43]: {_ID}: info: header Subject: From me from you from h[::1]; "
        "from=<a@ex.test> to=<b@far.test> proto=ESMTP helo=<[::1]>"),
        LoggedHeader("Subject", "From me from you"),
    ),
    (f"qmgr[44]: {_ID}: from=<a@ex.test>, size=512, nrcpt=3 (queue active)", LoggedAcceptance("a@ex.test", 512, 3)),
    (f"qmgr[44]: {_ID}: from=<>, size=512, nrcpt=1 (queue active)", LoggedAcceptance("", 512, 1)),
    (f'qmgr[44]: {_ID}: from=<"a>, size=9"@ex.test>, size=512, nrcpt=1 (queue active)',
     LoggedAcceptance('"a>, size=9"@ex.test', 512, 1)),
    (f"qmgr[44]: {_ID}: from=<a@ex.test>, status=expired, returned to sender", LoggedExpiry()),
    (f"qmgr[44]: {_ID}: from=<a@ex.test>, status=force-expired, returned to sender", LoggedExpiry()),
    (f"qmgr[44]: {_ID}: removed", LoggedRemoval("qmgr")),
    (f"postsuper[44]: {_ID}: removed", LoggedRemoval("postsuper")),
    (f"postsuper[44]: {_ID}: placed on hold", LoggedMove("hold")),
    (f"postsuper[44]: {_ID}: released from hold", LoggedMove("released")),
    (f"postsuper[44]: {_ID}: requeued", LoggedMove("requeued")),
    (
        f"bounce[44]: {_ID}: sender non-delivery notification: 4jW9T1xz0bz2",
        LoggedNotification("non-delivery", "4jW9T1xz0bz2"),
    ),
    (f"bounce[44]: {_ID}: sender delay notification: 4jW9T1xz0bz2", LoggedNotification("delay", "4jW9T1xz0bz2")),
    (
        ("mx/smtpd[44]: NOQUEUE: reject: RCPT from unknown[203.0.113.9]: 550 5.1.1 <no@ex.test>: Recipient address "
        "rejected: User unknown in virtual mailbox table; from=<a@far.test> to=<no@ex.test> proto=ESMTP helo=<x>"),
        LoggedRejection(
            "RCPT", "203.0.113.9", 550, "5.1.1",
            "<no@ex.test>: Recipient address rejected: User unknown in virtual mailbox table", "a@far.test",
            "no@ex.test",
        ),
    ),
    (
        (f"mx/smtpd[44]: {_ID}: reject: RCPT from h.far.test[2001:db8::9]: 450 4.2.1 <b@off.test>: deactivated; "
        'from=<> to=<"; from=<x>"@off.test> proto=ESMTP helo=<; from=<evil>'),
        LoggedRejection("RCPT", "2001:db8::9", 450, "4.2.1", "<b@off.test>: deactivated", "", '"; from=<x>"@off.test'),
    ),
    (
        ("mx/smtpd[44]: NOQUEUE: reject: MAIL from h[203.0.113.9]: 552 5.3.4 Message size exceeds fixed limit; "
        "proto=ESMTP helo=<x>"),
        LoggedRejection("MAIL", "203.0.113.9", 552, "5.3.4", "Message size exceeds fixed limit", "", None),
    ),
    (
        (f"cleanup[44]: {_ID}: milter-reject: END-OF-MESSAGE from h[203.0.113.9]: 5.7.1 Gtube pattern; "
        "from=<a@far.test> to=<b@ex.test> proto=ESMTP helo=<x>"),
        LoggedRejection("END-OF-MESSAGE", "203.0.113.9", 554, "5.7.1", "Gtube pattern", "a@far.test", "b@ex.test"),
    ),
    (
        (f"cleanup[44]: {_ID}: milter-reject: END-OF-MESSAGE from h[203.0.113.9]: 4.7.1 Try again later; "
        "from=<a@far.test> to=<b@ex.test> proto=ESMTP helo=<x>"),
        LoggedRejection("END-OF-MESSAGE", "203.0.113.9", 451, "4.7.1", "Try again later", "a@far.test", "b@ex.test"),
    ),
]  # fmt: skip

_MANY = ",? ".join(f"Somebody <somebody{number}@far.test>" for number in range(9))


@pytest.mark.parametrize(
    "field, value",
    [
        ("Subject: =?utf-8?q?M=C3=A4rz_f?=? =?utf-8?q?=C3=BCr?=", "=?utf-8?q?M=C3=A4rz_f?= =?utf-8?q?=C3=BCr?="),
        ("Subject: =?utf-8?b?w7w=?=?? =?utf-8?b?w7w=?=", "=?utf-8?b?w7w=?= =?utf-8?b?w7w=?="),
        ("Subject:? =?utf-8?q?=C3=BCr?=", "=?utf-8?q?=C3=BCr?="),
        ("Subject: Who,? Me? Yes? =?", "Who,? Me? Yes? =?"),
        ("Subject: " + "x" * 176  + " =?utf-8?b?w7w=?=", "x" * 176 + " =?utf-8?b?w7w?="),
        ("Subject: " + "x" * 177 + " =?utf-8?q?f=C3=BCr?=", "x" * 177 + " =?utf-8?q?f?="),
        ("Subject: " + "x, " * 100, ("x, " * 100)[:191]),
        ("To: Anna <anna@far.test>,? bert@far.test,??Chris <c@far.test>",
         "Anna <anna@far.test>, bert@far.test, Chris <c@far.test>"),
        ("CC:?? =?utf-8?q?=C3=84?=? =?utf-8?q?b?= <a@far.test>", "=?utf-8?q?=C3=84?= =?utf-8?q?b?= <a@far.test>"),
        ("To: " + _MANY, ", ".join(f"Somebody <somebody{number}@far.test>" for number in range(6))),
        (f"To: a@far.test, {'B' * 171} <b@far.test>", f"a@far.test, {'B' * 171} <b@far.test>"),
        ("From: " + "ä" * 90 + " <anna@far.test>", ""),
    ],
)  # fmt: skip
def test_logged_folds_are_removed_and_truncated_addresses_dropped(field: str, value: str):
    logged = field.encode()[:200].decode()
    about = "from h[::1]; from=<a@ex.test> to=<b@far.test> proto=ESMTP helo=<[::1]>"
    fact = _fact(f"{_HEAD}submission/cleanup[43]: {_ID}: info: header {logged} {about}")
    assert fact == LoggedHeader(field.partition(":")[0], value)


_ATTEMPTS: list[tuple[str, PostfixAttempt]] = [
    (
        (f"smtp[45]: {_ID}: to=<b@far.test>, relay=mx.far.test[192.0.2.1]:25, conn_use=2, {_TIMES}, dsn=2.0.0, "
        "status=sent (250 2.0.0 Ok: queued as 1(2))"),
        PostfixAttempt("b@far.test", None, "sent", 250, "2.0.0", "Ok: queued as 1(2)", "mx.far.test", 1.5),
    ),
    (
        (f"smtp[45]: {_ID}: to=<b@far.test>, orig_to=<sales@ex.test>, relay=mx.far.test[2001:db8::1]:25, {_TIMES}, "
        "dsn=5.1.1, status=bounced (host mx.far.test[2001:db8::1] said: 550 5.1.1 <b@far.test>: no such user "
        "(in reply to RCPT TO command))"),
        PostfixAttempt("b@far.test", "sales@ex.test", "bounced", 550, "5.1.1",
                "<b@far.test>: no such user (in reply to RCPT TO command)", "mx.far.test", 1.5),
    ),
    (
        (f"smtp[45]: {_ID}: to=<b@far.test>, relay=mx.far.test[192.0.2.1]:25, {_TIMES}, dsn=4.0.0, status=deferred "
        "(host mx.far.test[192.0.2.1] refused to talk to me: 421 busy)"),
        PostfixAttempt("b@far.test", None, "deferred", 421, "4.0.0", "busy", "mx.far.test", 1.5),
    ),
    (
        (f"smtp[45]: {_ID}: to=<b@far.test>, relay=none, {_TIMES}, dsn=4.4.1, status=deferred "
        "(connect to 127.0.0.3[127.0.0.3]:2526: Connection refused)"),
        PostfixAttempt("b@far.test", None, "deferred", None, "4.4.1",
                "connect to 127.0.0.3[127.0.0.3]:2526: Connection refused", None, 1.5),
    ),
    (
        (f"smtp[45]: {_ID}: to=<b@far.test>, relay=mx.far.test[192.0.2.1]:25, {_TIMES}, dsn=4.4.2, status=deferred "
        "(lost connection with mx.far.test[192.0.2.1] while sending end of data -- message may be sent more "
        "than once)"),
        PostfixAttempt("b@far.test", None, "deferred", None, "4.4.2",
                "lost connection with mx.far.test[192.0.2.1] while sending end of data -- message may be sent more "
                "than once", "mx.far.test", 1.5),
    ),
    (
        (f"lmtp[45]: {_ID}: to=<a+tag@ex.test>, relay=mx[/tmp/mk/lmtp.sock], {_TIMES}, dsn=5.2.2, status=bounced "
        "(host mx[/tmp/mk/lmtp.sock] said: 552 5.2.2 <a@ex.test> Quota exceeded (in reply to end of DATA command))"),
        PostfixAttempt("a+tag@ex.test", None, "bounced", 552, "5.2.2",
                "<a@ex.test> Quota exceeded (in reply to end of DATA command)", "mx", 1.5),
    ),
    (
        f'error[45]: {_ID}: to=<"a>, relay=x"@ex.test>, relay=none, {_TIMES}, dsn=5.1.1, status=bounced (no delivery)',
        PostfixAttempt('"a>, relay=x"@ex.test', None, "bounced", None, "5.1.1", "no delivery", None, 1.5),
    ),
    (
        (f"local[45]: {_ID}: to=<root@mx>, orig_to=<root>, relay=local, {_TIMES}, dsn=2.0.0, status=sent "
        "(delivered to mailbox)"),
        PostfixAttempt("root@mx", "root", "sent", None, "2.0.0", "delivered to mailbox", None, 1.5),
    ),
    (
        f"virtual[45]: {_ID}: to=<a@ex.test>, relay=virtual, {_TIMES}, dsn=2.0.0, status=sent (delivered to maildir)",
        PostfixAttempt("a@ex.test", None, "sent", None, "2.0.0", "delivered to maildir", None, 1.5),
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    "text, fact", [*_FACTS, *_ATTEMPTS], ids=lambda value: value[:60] if isinstance(value, str) else ""
)
def test_a_line_has_a_fact(text: str, fact: LogFact) -> None:
    assert _fact(_HEAD + text) == fact


def test_a_line_has_its_service_and_its_queue_id() -> None:
    line = parse(f"{_HEAD}submission/smtpd[42]: {_ID}: client=h[127.0.0.1]".encode())
    assert line == LogLine("Nov 20 10:01:02", "postfix/submission", _ID, LoggedClient("h", "127.0.0.1", None), "smtpd")
    refused = parse(f"{_HEAD}smtpd[4]: NOQUEUE: reject: CONNECT from h[192.0.2.9]: 554 5.7.1 no; proto=SMTP".encode())
    assert refused is not None
    assert (refused.service, refused.queue_id) == ("postfix", None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "smtpd[42]: connect from localhost[127.0.0.1]",
        "smtpd[42]: warning: dict_pgsql: connection refused",
        "smtpd[42]: disconnect from localhost[127.0.0.1] ehlo=1 mail=1 rcpt=1 data=1 quit=1 commands=5",
        "anvil[42]: statistics: max connection rate 1/60s for (smtp:127.0.0.1) at Nov 20 10:01:02",
        "master[42]: daemon started -- version 3.7.11, configuration /x",
        f"smtpd[42]: {_ID}: hold: RCPT from h[192.0.2.1]: kept; from=<> to=<b@ex.test> proto=ESMTP helo=<x>",
        f"smtp[45]: {_ID}: to=<b@far.test>, relay=none, delay=1",
        f"smtp[45]: {_ID}: to=<b@far.test",
        f"smtp[45]: {_ID}: host mx.far.test[192.0.2.1] said: 450 4.2.0 greylisted (in reply to RCPT TO command)",
        "smtp[45]: NOQUEUE: to=<b@far.test>, relay=none, delay=1, delays=0/0/0/1, dsn=2.0.0, status=sent (250 ok)",
        f"verify[45]: {_ID}: to=<b@far.test>, relay=none, delay=1, delays=0/0/0/1, dsn=2.0.0, status=deliverable (ok)",
        f"qmgr[44]: {_ID}: skipped, still being delivered",
    ],
)
def test_other_lines_are_ignored(text: str) -> None:
    assert parse((_HEAD + text).encode()) is None


@given(st.binary(max_size=400))
def test_arbitrary_bytes_never_raise(content: bytes) -> None:
    assert parse(content) is None or content


@given(
    st.sampled_from([*_FACTS, *_ATTEMPTS]),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 3), st.binary(max_size=6)), max_size=4),
)
def test_a_damaged_line_never_raises(known: tuple[str, LogFact], damages: list[tuple[int, int, bytes]]) -> None:
    line = (_HEAD + known[0]).encode()
    for start, length, instead in damages:
        line = line[:start] + instead + line[start + length :]
    found = parse(line)
    assert found is None or "\0" not in repr(found.fact)


_PRINTABLE = st.text(st.characters(blacklist_categories=["Cc", "Cs"]), max_size=40)


@given(_PRINTABLE, _PRINTABLE)
def test_text_of_a_remote_server_is_never_parsed_as_syntax(words: str, local: str) -> None:
    quoted = local.replace("\\", "\\\\").replace('"', '\\"')
    text = f'to=<"{quoted}"@far.test>, relay=m[192.0.2.1]:25, {_TIMES}, dsn=5.0.0, status=bounced ({words})'
    fact = _fact(_SMTP + text)
    assert isinstance(fact, PostfixAttempt)
    assert (fact.recipient, fact.status) == (f'"{quoted}"@far.test', "bounced")


def test_the_time_of_a_line_is_local_and_gets_a_year() -> None:
    read = datetime(2027, 1, 1, 0, 0, 30, tzinfo=UTC)
    for ago in (timedelta(0), timedelta(minutes=5), timedelta(days=20)):
        written = (read - ago).astimezone()
        assert parse_stamp(f"{written:%b %e %H:%M:%S}", read) == read - ago


@pytest.mark.parametrize("stamp", ["", "Foo 20 10:01:02", "Feb 31 10:01:02", "Nov 20 99:01:02", "Nov 20"])
def test_an_invalid_timestamp_counts_as_now(stamp: str) -> None:
    read = datetime(2026, 11, 21, 12, tzinfo=UTC)
    assert parse_stamp(stamp, read) == read


def test_a_timestamp_is_never_later_than_the_time_of_reading() -> None:
    read = datetime(2026, 11, 21, 12, tzinfo=UTC)
    ahead = (read + timedelta(minutes=3)).astimezone()
    assert parse_stamp(f"{ahead:%b %e %H:%M:%S}", read) == read
