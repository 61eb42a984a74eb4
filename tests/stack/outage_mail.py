"""Mail of several kinds for an instance whose parts fail: a stream of it, and where each message must end."""

from __future__ import annotations

import contextlib
import json
import smtplib
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from email.message import EmailMessage

from mailkeep.mail.daemons.scanning import EICAR
from tests.stack.harness import Stack
from tests.support.ledger import Ledger

DOMAIN, FORWARDING, LIST = "out.test", "fwd.test", "bl.lists.test"
SINKS = {"friend+team@remote.test": "team sink", "friend+crew@remote.test": "crew sink"}
"""External destinations, and what they are called."""
GOOD, EVIL, LISTED = "203.0.113.10", "203.0.113.30", "198.51.100.77"
ANN, MALLORY = "ann@good.test", "mallory@evil.test"
SCORES = (8, 17)
_RETRY_SECONDS = 1.0
_GIVE_UP_SECONDS = 180.0

REFUSED = "5xx"
"""The place of a message that is refused."""
UNSEALED = "without a seal"

Places = frozenset[str]


@dataclass(frozen=True)
class Kind:
    """Mail of one kind. `normal` are the places of its copies; `during` those that are right as well while a part is
    away, and `deferred` the parts without which it is refused for now (4xx).
    """

    name: str
    recipients: Sequence[str]
    normal: Places
    during: Mapping[str, Places] = field(default_factory=dict[str, Places])
    deferred: Collection[str] = ("rspamd", "policy", "clamd")
    score: int = 0
    sender: str = ANN
    client: str = GOOD
    is_virus: bool = False

    def write(self, token: str) -> bytes:
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = self.sender, ", ".join(self.recipients), token
        message["Date"], message["Message-ID"] = "Thu, 26 Nov 2026 12:00:00 +0000", f"<{token}@client.test>"
        if self.score:
            message["X-Test-Score"] = str(self.score)
        message.set_content(f"About the meeting, {token}.\n")
        if self.is_virus:
            content = EICAR + token.encode()  # each is new to the scanner
            message.add_attachment(content, maintype="application", subtype="octet-stream", filename="f.bin")
        return message.as_bytes()


def places(*names: str) -> Places:
    return frozenset(names)


_TEAM = (f"team@{FORWARDING}",)
KINDS = (
    Kind("ham", (f"alice@{DOMAIN}", f"bob@{DOMAIN}"), places("alice INBOX", "bob INBOX")),
    Kind("spam for three thresholds", (f"alice@{DOMAIN}", f"bob@{DOMAIN}", f"carol@{DOMAIN}"),
         places("alice Junk", "bob INBOX", "carol INBOX"), score=8),
    Kind("spam to refuse", (f"alice@{DOMAIN}",), places(REFUSED), {"keys": places("alice Junk")}, score=17),
    Kind("forwarded", (*_TEAM, f"crew@{FORWARDING}"), places("fred INBOX", "team sink", "crew sink")),
    Kind("spam not to forward", _TEAM, places("fred Junk"), score=8),
    Kind("virus", (f"alice@{DOMAIN}",), places(REFUSED), is_virus=True),
    # Refused at RCPT by the policy server, or at the end of DATA.
    Kind("denied sender", (f"bob@{DOMAIN}",), places(REFUSED), {}, ("rspamd", "policy"), sender=MALLORY, client=EVIL),
    Kind("spam of an allowed author", (f"dave@{DOMAIN}",), places("dave INBOX"), {},
         ("rspamd", "policy", "clamd", "dns"), score=17),
    Kind("listed client", (f"alice@{DOMAIN}",), places("alice Junk"), {"dns": places("alice INBOX")},
         sender="someone@remote.test", client=LISTED),
)  # fmt: skip


@dataclass(frozen=True)
class Attempt:
    """One try to deliver a message. `code` of the last reply, 0 if the connection was lost."""

    kind: Kind
    token: str
    begun: float
    ended: float
    code: int
    reply: str


@dataclass(frozen=True)
class Window:
    """A time in which a part was away."""

    part: str
    begun: float
    ended: float

    def touches(self, attempt: Attempt) -> bool:
        return attempt.begun < self.ended and attempt.ended > self.begun


class Stream:
    """Mail of all kinds, one message after the other of each, tried again after temporary refusals."""

    def __init__(self, stack: Stack, pause: float, name: str = "m") -> None:
        self.stack, self._pause, self._name = stack, pause, name
        self.ledger = Ledger("mail in")
        self.attempts: list[Attempt] = []
        self.ended: dict[str, Attempt] = {}
        """The attempt at which each message was accepted or refused."""
        self.abandoned: list[str] = []
        self._stop = threading.Event()

    @contextlib.contextmanager
    def flowing(self) -> Generator[None]:
        """Runs during the block; then ends what is under way."""
        threads = [
            threading.Thread(target=self._flow, args=(number, kind), daemon=True) for number, kind in enumerate(KINDS)
        ]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stop.set()
            for thread in threads:
                thread.join(_GIVE_UP_SECONDS + 90)

    def _flow(self, number: int, kind: Kind) -> None:
        self._stop.wait(self._pause * number / len(KINDS))
        count = 0
        while not self._stop.is_set():
            count += 1
            self._bring(kind, f"{self._name}{number}-{count}-x")
            self._stop.wait(self._pause)

    def _bring(self, kind: Kind, token: str) -> None:
        content, deadline = kind.write(token), time.monotonic() + _GIVE_UP_SECONDS
        while time.monotonic() < deadline:
            begun = time.monotonic()
            self.ledger.invoke(token)
            code, reply, is_certain = _deliver(self.stack, kind, content)
            attempt = Attempt(kind, token, begun, time.monotonic(), code, reply)
            if code == 250:
                self.ledger.ok(token)
            elif is_certain:
                self.ledger.fail(token)
            else:
                self.ledger.info(token)
            if code == 250 or code >= 500:
                self.ended[token] = attempt
                self.attempts.append(attempt)
                return
            self.attempts.append(attempt)
            time.sleep(_RETRY_SECONDS)
        self.abandoned.append(token)

    def normal_since(self, at: float) -> dict[str, float]:
        """The seconds from `at` until the first message that was begun afterwards ended as it always does, by kind."""
        found: dict[str, float] = {}
        for attempt in list(self.attempts):
            is_normal = attempt.code >= 500 if REFUSED in attempt.kind.normal else attempt.code == 250
            if attempt.begun > at and is_normal:
                found.setdefault(attempt.kind.name, attempt.ended - at)
        return found


def _deliver(stack: Stack, kind: Kind, content: bytes) -> tuple[int, str, bool]:
    """The reply that ends a try, and whether it says for certain if the message was accepted."""
    is_certain = True
    try:
        with stack.afar(kind.client, "mx.good.test") as client:
            for command, argument in (("mail", kind.sender), *(("rcpt", each) for each in kind.recipients)):
                call: Callable[[str], tuple[int, bytes]] = getattr(client, command)
                code, text = call(argument)
                if code != 250:
                    return code, text.decode(), True
            is_certain = False
            code, text = client.data(content)
            return code, text.decode(), True
    except smtplib.SMTPDataError as error:  # in place of 354
        return error.smtp_code, str(error.smtp_error), True
    except (OSError, smtplib.SMTPException, AssertionError) as error:
        return 0, repr(error), is_certain


class Whereabouts:
    """Where the copies of each message are, read from the mailboxes' files and the external server's."""

    def __init__(self, stack: Stack, mailboxes: Mapping[str, str]) -> None:
        self.stack, self.mailboxes = stack, mailboxes
        self._seen: dict[str, tuple[str, str]] = {}  # by file name
        self.leaving: dict[str, list[str]] = {}
        """What is wrong with each forwarded message."""

    def read(self) -> dict[str, Counter[str]]:
        """The places of each message, with the number of its copies there."""
        found: dict[str, Counter[str]] = {}
        for name, mailbox_id in self.mailboxes.items():
            for path in (self.stack.data_dir / "mail" / mailbox_id).rglob("*"):
                if path.parent.name not in ("new", "cur"):
                    continue
                with contextlib.suppress(FileNotFoundError):
                    subject, _ = self._look(f"{name}/{path.name.partition(':')[0]}", path.read_bytes)
                    folder = "Junk" if any("Junk" in part for part in path.parts) else "INBOX"
                    found.setdefault(subject, Counter())[f"{name} {folder}"] += 1
        for path in (self.stack.folder / "caught").glob("*.json"):
            subject, head = self._look(path.name, path.with_suffix(".eml").read_bytes)
            envelope = json.loads(path.read_text())
            for address in envelope["rcpt_to"]:
                found.setdefault(subject, Counter())[SINKS[address]] += 1
            self.leaving[subject] = [
                problem
                for problem, is_there in (
                    (UNSEALED, head.count("\narc-seal:") != 1),
                    ("with our own fields", "\nx-mailkeep" in head),
                    ("with the sender of the original", not envelope["mail_from"].startswith("SRS0=")),
                )
                if is_there
            ]
        return found

    def _look(self, key: str, read: Callable[[], bytes]) -> tuple[str, str]:
        """The subject, and the header in lower case."""
        if key not in self._seen:
            head = "\n" + read().replace(b"\r\n", b"\n").partition(b"\n\n")[0].decode("latin-1")
            subject = next((line[9:] for line in head.split("\n") if line.startswith("Subject: ")), "?")
            self._seen[key] = subject, head.lower()
        return self._seen[key]


def find_wrong(stream: Stream, windows: Sequence[Window], found: Mapping[str, Counter[str]]) -> list[str]:
    """What is lost, doubled, refused or filed wrongly, in words."""
    wrong = [f"{token} was never accepted or refused" for token in stream.abandoned]
    for token, attempt in stream.ended.items():
        kind, copies = attempt.kind, found.get(token, Counter())
        right = [kind.normal]
        right += [kind.during[each.part] for each in windows if each.touches(attempt) and each.part in kind.during]
        is_refused = attempt.code >= 500
        actual = Counter([REFUSED]) if is_refused else Counter[str]()
        # A message whose connection was lost after DATA may have been accepted then.
        if not (is_refused and token in stream.ledger.doubtful):
            actual += copies
        if token in stream.ledger.doubtful:
            actual = Counter(set(actual))  # it may have been accepted twice
        if not any(actual == Counter(each) for each in right):
            away = ", ".join(
                f"{each.part} {attempt.begun - each.begun:.1f}" for each in windows if each.touches(attempt)
            )
            wrong.append(
                f"{kind.name} {token}: {dict(actual)} ({attempt.code} {attempt.reply}; away: {away or 'none'})"
            )
    return wrong
