"""Parses lines of Postfix's log (3.7, written by postlogd). No I/O: bytes in, a fact or None out, never an exception.

A fact belongs to a queue id. Other lines (connections, statistics, TLS) and lines that do not match completely are
None. Addresses have the form `info_log_addr_form = external`, the default: a quoted local part may contain `>` and
commas. Every repetition in a pattern is possessive, so that matching takes linear time.

    Nov 20 10:01:02 mx postfix/api/smtpd[42]: 4jW9T1xz0bz1: client=localhost[127.0.0.1]
    Nov 20 10:01:02 mx postfix/cleanup[43]: 4jW9T1xz0bz1: message-id=<1@ex.test>
    Nov 20 10:01:02 mx postfix/qmgr[44]: 4jW9T1xz0bz1: from=<a@ex.test>, size=512, nrcpt=1 (queue active)
    Nov 20 10:01:03 mx postfix/smtp[45]: 4jW9T1xz0bz1: to=<b@far.test>, relay=mx.far.test[192.0.2.1]:25, delay=1,
        delays=0/0/0.5/0.5, dsn=2.0.0, status=sent (250 2.0.0 Ok)
    Nov 20 10:01:03 mx postfix/qmgr[44]: 4jW9T1xz0bz1: removed
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from mailkeep.mail.postfix.submission_login import parse_login

# Long ids (enable_long_queue_ids) have 52 letters and digits without vowels, short ones hexadecimal digits. No word at
# the start of a line, such as `warning`, matches.
_QUEUE_ID = r"[0-9B-DF-HJ-NP-TV-Zb-df-hj-np-tv-z]{10,30}|[0-9A-F]{5,20}"
_ADDRESS = r'<((?:"(?:[^"\\]|\\.)*+"|[^">])*+)>'
_HEAD = re.compile(
    r"([A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d) \S++ "
    r"([\w.-]++(?:/[\w.-]++)*?)/([\w-]++)\[\d++\]: "
    rf"(?:({_QUEUE_ID}|NOQUEUE): )?(.*)",
    re.ASCII | re.DOTALL,
)
_PEER = r"([^\[\s]*+)\[([^\]]*+)\](?::\d++)?"
_CLIENT = re.compile(rf"client={_PEER}(.*)", re.DOTALL)
_LOGIN = re.compile(r", sasl_username=([^,]++)")
_MESSAGE_ID = re.compile(r"message-id=(.++)", re.DOTALL)
_HEADER = re.compile(r"(?:info|strip): header ([!-9;-~]++):(.*) from \S*\[[^\]]*+\]; from=<.*", re.DOTALL)
_QUEUE_ACTIVE = re.compile(rf"from={_ADDRESS}, size=([0-9]{{1,15}}+), nrcpt=([0-9]{{1,9}}+) \(")
_EXPIRED = re.compile(rf"from={_ADDRESS}, status=(?:force-)?expired, ")
_ATTEMPT = re.compile(
    rf"to={_ADDRESS}, (?:orig_to={_ADDRESS}, )?"
    r"relay=([^\[,]*+(?:\[[^\]]*+\][^,]*+)?), (?:conn_use=\d++, )?delay=([0-9.]{1,20}+), delays=[0-9./]++, "
    r"dsn=([245]\.[0-9]{1,3}+\.[0-9]{1,3}+), status=(sent|deferred|bounced) \((.*)\)",
    re.DOTALL,
)
_REJECTED = re.compile(
    rf"(?:milter-)?reject: ([A-Z-]++) from {_PEER}: "
    r"(?:([45][0-9][0-9]) )?(?:([45]\.[0-9]{1,3}+\.[0-9]{1,3}+) )?(.*)",
    re.DOTALL,
)
_ENVELOPE = re.compile(rf"; (?:from={_ADDRESS},? )?(?:to={_ADDRESS},? )?proto=\S++(?: helo=<.*)?", re.DOTALL)
_PICKUP = re.compile(rf"uid=\d++ from={_ADDRESS}(?: orig_id=({_QUEUE_ID}))?")
_NOTICE = re.compile(rf"(?:sender|postmaster) (non-delivery|delay|delivery status) notification: ({_QUEUE_ID})")
_REMOTE_REPLY = re.compile(r"host (\S++) (?:said|refused to talk to me): (.*)", re.DOTALL)
_REPLY = re.compile(r"([245][0-9][0-9])(?:[ -]([245]\.[0-9]{1,3}+\.[0-9]{1,3}+)(?= |$))?[ -]?(.*)", re.DOTALL)
_RELAY = re.compile(r"([^\[]*+)\[([^\]]*+)\](?::.*)?", re.DOTALL)
_FOLDED_START = re.compile(r"^\?[ \t?]++")
_FOLDED_WORDS = re.compile(r"\?=\?[ \t?]++=\?")
_FOLDED_LIST = re.compile(r",\?[ \t?]++")
_TRUNCATED_WORD = re.compile(r"(=\?[^?\s]{1,80}+\?[bBqQ]\?[^?\s]{0,200}?)(?:=[0-9A-Fa-f]?|\?)?$")
_ADDRESS_LISTS = ("from", "to", "cc")
_MAX_HEADER = 200  # bytes of a header field that Postfix logs
_MAX_TEXT = 1000
_MAX_ENVELOPES = 5

Status = Literal["sent", "deferred", "bounced"]


@dataclass(frozen=True, slots=True)
class LoggedClient:
    """smtpd accepted a sender from this client, logged in as `login` (None without a login)."""

    name: str
    address: str
    login: str | None


@dataclass(frozen=True, slots=True)
class LoggedPickup:
    """A message was picked up from the maildrop; `orig_id` is the queue id that it had before it was requeued."""

    orig_id: str | None


@dataclass(frozen=True, slots=True)
class LoggedMessageId:
    """cleanup read the header's Message-ID, with its angle brackets. Not the acceptance (`LoggedAcceptance`)."""

    text: str


@dataclass(frozen=True, slots=True)
class LoggedHeader:
    """A field that header_checks logs (INFO, STRIP), truncated to 200 bytes with its name.

    Postfix writes the characters of a fold as `?`. They are removed where they are unambiguous: before the value,
    between encoded words, and after the comma of an address list. A truncated address is removed, and a truncated
    encoded word is closed.
    """

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class LoggedAcceptance:
    """qmgr has the message: it is accepted. `recipients` counts them after aliases were expanded."""

    sender: str
    size: int
    recipients: int


@dataclass(frozen=True, slots=True)
class PostfixAttempt:
    """The outcome of a delivery attempt to one recipient.

    `orig_to` is the recipient before aliases, if it differs. `seconds` is the time since the message arrived.
    """

    recipient: str
    orig_to: str | None
    status: Status
    smtp_code: int | None
    enhanced_code: str
    text: str
    remote_host: str | None
    seconds: float


@dataclass(frozen=True, slots=True)
class LoggedExpiry:
    """qmgr returned the message for the remaining recipients: it expired."""


@dataclass(frozen=True, slots=True)
class LoggedRemoval:
    """The message left the queue: finished (`qmgr`), or deleted by an operator (`postsuper`)."""

    by: Literal["qmgr", "postsuper"]


@dataclass(frozen=True, slots=True)
class LoggedNotification:
    """The sender gets a notification, a message with this queue id."""

    kind: Literal["non-delivery", "delay", "delivery status"]
    queue_id: str


@dataclass(frozen=True, slots=True)
class LoggedMove:
    """postsuper put the message on hold, released it or requeued it."""

    to: Literal["hold", "released", "requeued"]


@dataclass(frozen=True, slots=True)
class LoggedRejection:
    """A rejection at SMTP, by smtpd or a filter. `recipient` is None if it is not about one recipient."""

    stage: str
    client: str
    smtp_code: int
    enhanced_code: str
    text: str
    sender: str
    recipient: str | None


LogFact = (
    LoggedClient
    | LoggedPickup
    | LoggedMessageId
    | LoggedHeader
    | LoggedAcceptance
    | PostfixAttempt
    | LoggedExpiry
    | LoggedRemoval
    | LoggedNotification
    | LoggedMove
    | LoggedRejection
)


@dataclass(frozen=True, slots=True)
class LogLine:
    """A fact with its `stamp` (`Nov 20 10:01:02`), `service` (`postfix/api`), `queue_id` (None: NOQUEUE) and `program`
    (`smtpd`).
    """

    stamp: str
    service: str
    queue_id: str | None
    fact: LogFact
    program: str


def parse(line: bytes) -> LogLine | None:
    """Parse a line (with or without its LF); None if it has no fact."""
    head = _HEAD.match(line.rstrip(b"\r\n").replace(b"\0", b"?").decode("utf-8", "replace"))
    if head is None:
        return None
    stamp, service, program, queue_id, text = head.groups()
    if queue_id is None:
        return None
    if queue_id == "NOQUEUE":
        queue_id = None
    fact = _attempt(text) if text.startswith("to=<") else _fact(program, text)
    if fact is None or (queue_id is None and not isinstance(fact, LoggedRejection)):
        return None
    return LogLine(stamp, service, queue_id, fact, program)


def _fact(program: str, text: str) -> LogFact | None:
    parser = _PROGRAMS.get(program)
    return parser(text) if parser else None


def _smtpd(text: str) -> LogFact | None:
    if match := _CLIENT.fullmatch(text):
        login = _LOGIN.search(match[3])
        return LoggedClient(match[1], match[2], parse_login(login[1]).address if login else None)
    return _rejection(text)


def _cleanup(text: str) -> LogFact | None:
    if match := _MESSAGE_ID.fullmatch(text):
        return LoggedMessageId(match[1])
    if match := _HEADER.fullmatch(text):
        return _header(match[1], match[2])
    return _rejection(text)


def _header(name: str, text: str) -> LoggedHeader:
    is_truncated = len(f"{name}:{text}".encode()) >= _MAX_HEADER
    value = _FOLDED_WORDS.sub("?= =?", _FOLDED_START.sub("", text)).strip()
    if name.lower() in _ADDRESS_LISTS:
        value = _FOLDED_LIST.sub(", ", value)
        if is_truncated and not value.endswith(">"):
            value = value.rpartition(",")[0]
    elif is_truncated:
        value = _TRUNCATED_WORD.sub(r"\1?=", value)
    return LoggedHeader(name, value)


def _qmgr(text: str) -> LogFact | None:
    if text == "removed":
        return LoggedRemoval("qmgr")
    if match := _QUEUE_ACTIVE.match(text):
        return LoggedAcceptance(match[1], int(match[2]), int(match[3]))
    return LoggedExpiry() if _EXPIRED.match(text) else None


def _pickup(text: str) -> LogFact | None:
    match = _PICKUP.fullmatch(text)
    return LoggedPickup(match[2]) if match else None


def _bounce(text: str) -> LogFact | None:
    match = _NOTICE.fullmatch(text)
    return LoggedNotification(match[1], match[2]) if match else None  # pyright: ignore[reportArgumentType] the pattern's words


def _postsuper(text: str) -> LogFact | None:
    return _POSTSUPER.get(text)


def _rejection(text: str) -> LoggedRejection | None:
    match = _REJECTED.fullmatch(text)
    if match is None:
        return None
    stage, _, client, code, enhanced, rest = match.groups()
    if code is None and enhanced is None:
        return None
    sender, recipient = "", None
    # The reply text may contain something similar: the envelope is the last match.
    for start in (start for marker in ("; from=<", "; proto=") for start in _last_positions(rest, marker)):
        if envelope := _ENVELOPE.fullmatch(rest, start):
            sender, recipient, rest = envelope[1] or "", envelope[2], rest[:start]
            break
    smtp_code = int(code) if code else (554 if enhanced.startswith("5") else 451)
    return LoggedRejection(stage, client, smtp_code, enhanced or "", rest[:_MAX_TEXT], sender, recipient)


def _last_positions(text: str, marker: str) -> Iterator[int]:
    position = len(text)
    for _ in range(_MAX_ENVELOPES):
        position = text.rfind(marker, 0, position)
        if position < 0:
            return
        yield position


def _attempt(text: str) -> PostfixAttempt | None:
    match = _ATTEMPT.fullmatch(text)
    if match is None:
        return None
    recipient, orig_to, relay, seconds, dsn, status, text = match.groups()
    host = _RELAY.fullmatch(relay)
    remote_host = (host[1] or host[2]) if host else (None if relay in ("none", "local", "virtual") else relay)
    code = None
    if remote_reply := _REMOTE_REPLY.fullmatch(text):
        text = remote_reply[2]
        remote = _RELAY.fullmatch(remote_reply[1])
        remote_host = (remote[1] or remote[2]) if remote else remote_reply[1]
    if (remote_reply or status == "sent") and (reply := _REPLY.fullmatch(text)):
        code, text = int(reply[1]), reply[3]
    try:
        delay = float(seconds)
    except ValueError:
        return None
    return PostfixAttempt(recipient, orig_to, _STATUSES[status], code, dsn, text[:_MAX_TEXT], remote_host, delay)


_STATUSES: dict[str, Status] = {"sent": "sent", "deferred": "deferred", "bounced": "bounced"}
_PROGRAMS: dict[str, Callable[[str], LogFact | None]] = {
    "smtpd": _smtpd,
    "cleanup": _cleanup,
    "qmgr": _qmgr,
    "pickup": _pickup,
    "bounce": _bounce,
    "postsuper": _postsuper,
}
_POSTSUPER: dict[str, LogFact] = {
    "removed": LoggedRemoval("postsuper"),
    "placed on hold": LoggedMove("hold"),
    "released from hold": LoggedMove("released"),
    "requeued": LoggedMove("requeued"),
}
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MAX_AGE = timedelta(days=300)


def parse_stamp(stamp: str, read_at: datetime) -> datetime:
    """The time of a line, from its stamp (local time, no year) and the time when it was read (with a time zone).

    At most `read_at`, which is also the result for an invalid stamp or one of more than 300 days ago.
    """
    try:
        month = _MONTHS.index(stamp[:3]) + 1
        day, hour, minute, second = (int(stamp[at : at + 2]) for at in (4, 7, 10, 13))
        local = read_at.astimezone()
        written = datetime(local.year, month, day, hour, minute, min(second, 59)).astimezone()
        if written - local > timedelta(days=1):
            written = datetime(local.year - 1, month, day, hour, minute, min(second, 59)).astimezone()
    except (ValueError, IndexError, OverflowError):
        return read_at
    return min(written.astimezone(read_at.tzinfo), read_at) if local - written < _MAX_AGE else read_at
