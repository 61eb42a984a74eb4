"""An instance with all parts of the filter, which are killed and stopped under mail."""

from __future__ import annotations

import contextlib
import imaplib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import psycopg

from mailkeep.db import postgres
from mailkeep.db.instance import run_folder
from mailkeep.run.runtime import child
from tests.stack import harness, names
from tests.stack.harness import Stack, eventually
from tests.stack.outage_mail import (
    ANN,
    DOMAIN,
    FORWARDING,
    GOOD,
    KINDS,
    LIST,
    LISTED,
    MALLORY,
    SCORES,
    SINKS,
    UNSEALED,
    Stream,
    Whereabouts,
    Window,
    find_wrong,
)
from tests.support.instance import ROOT
from tests.support.ledger import Ledger

PARTS = ("rspamd", "keys", "policy", "learner", "clamd", "dns")
Fault = Literal["killed", "killed and kept away", "stopped", "stopped for good"]
"""A part that is stopped goes on afterwards, except one that is stopped for good: the supervisor has to end it."""
_ALERTS = {"clamd": ("antivirus", "scanner"), "dns": ("filter", "name server")}
_COMPONENTS = {"clamd": "antivirus"}
_PATIENCE = 120.0


def start(folder: Path) -> None:
    """Start the instance, with a DNS list, scores that messages name, and a scanner without which mail waits."""
    zones = folder / "zones"
    zones.mkdir()
    reversed_client = ".".join(reversed(LISTED.split(".")))
    names.publish(zones, LIST, "2.0.0.127 A 127.0.0.2", f"{reversed_client} A 127.0.0.2")
    names.publish(zones, "good.test", f'@ TXT "v=spf1 ip4:{GOOD} -all"', '_dmarc TXT "v=DMARC1; p=reject"')
    overlay = folder / "data" / "overlays" / "rspamd" / "local.d"
    overlay.mkdir(parents=True)
    rules = (f'"TEST_{score}" {{ re = "X-Test-Score=/^{score}$/H"; score = {score}.0; }}\n' for score in SCORES)
    (overlay / "regexp.conf").write_text("".join(rules))
    harness.start(
        folder,
        FILTER__ANTIVIRUS="true", FILTER__ANTIVIRUS_MIRROR="", FILTER__ANTIVIRUS_ON_FAILURE="defer",
        FILTER__DNSBL=json.dumps([{"zone": LIST, "codes": ["127.0.0.2"], "score": 8}]),
        FILTER__SPAM_SCORE="6", FILTER__REJECT_SCORE="15", OUTBOUND__GIVE_UP_HOURS="2",
    )  # fmt: skip


class Movers:
    """A mail client that puts new messages into INBOX and moves them to Junk. It uses one mailbox after the other: each
    may teach 100 messages an hour.
    """

    def __init__(self, stack: Stack, mailboxes: list[str], pause: float) -> None:
        self.stack, self._mailboxes, self._pause = stack, mailboxes, pause
        self.ledger = Ledger("moves to Junk")
        self.moves: list[tuple[float, float]] = []
        """When each move began, and its seconds."""
        self.problems: list[str] = []
        self._current = 0
        self._stop = threading.Event()

    @property
    def address(self) -> str:
        return self._mailboxes[self._current % len(self._mailboxes)]

    def change(self) -> None:
        """Go on with another mailbox."""
        self._current += 1

    @contextlib.contextmanager
    def moving(self) -> Generator[None]:
        thread = threading.Thread(target=self._run, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join(120)

    def _run(self) -> None:
        number = 0
        while not self._stop.is_set():
            address = self.address
            try:
                with self.stack.imap(address) as client:
                    while address == self.address and not self._stop.is_set():
                        number += 1
                        self._move(client, f"move-{number}-x")
                        self._stop.wait(self._pause)
            except (OSError, imaplib.IMAP4.error, AssertionError) as error:
                self.problems.append(repr(error))
                self._stop.wait(1)

    def _move(self, client: Any, token: str) -> None:
        text = harness.letter(
            "a@far.test", token, body=f"Words of {token} that the filter has not seen {time.time_ns()}."
        )
        self.ledger.invoke(token)
        assert client.append("INBOX", "", "", text.encode())[0] == "OK"
        client.select("INBOX")
        found = client.uid("SEARCH", "SUBJECT", token)[1][0].decode()
        begun = time.monotonic()
        answer = client.uid("MOVE", found, "Junk")
        self.moves.append((begun, time.monotonic() - begun))
        if answer[0] == "OK":
            self.ledger.ok(token)
        else:
            self.ledger.info(token)


@dataclass
class Report:
    """What happened at one fault. Times in seconds; `alert` and `ok` are None without one."""

    part: str
    fault: Fault
    away: float = 0.0
    replies: Counter[str] = field(default_factory=Counter[str])
    waiting: int = 0
    """Deliveries that were begun meanwhile and got a reply afterwards."""
    alert: float | None = None
    component: str = ""
    back: float = 0.0
    settled: float = 0.0
    ok: float | None = None
    longest_move: float = 0.0
    restarted: bool = False
    wrong: list[str] = field(default_factory=list[str])


class World:
    """The instance, its mailboxes, and the mail that flows."""

    def __init__(self, folder: Path, pause: float, movers: int) -> None:
        self.stack = Stack(folder)
        self.windows: list[Window] = []
        self._dns: subprocess.Popen[bytes] | None = None
        self._dns_pid: int = json.loads((folder / "stack.json").read_text())["pids"][2]
        mover_names = [f"mover{number}" for number in range(movers)]
        self.ids = self._furnish(mover_names)
        self.stream = Stream(self.stack, pause)
        self.movers = Movers(self.stack, [f"{name}@{DOMAIN}" for name in mover_names], pause)
        self.whereabouts = Whereabouts(self.stack, self.ids)
        urls = postgres.running_urls(self.stack.data_dir)
        assert urls
        self.sql = psycopg.connect(urls.app, autocommit=True)

    def close(self) -> None:
        self.sql.close()
        if self._dns:
            self._dns.kill()
            self._dns.wait()

    def _furnish(self, movers: Sequence[str]) -> dict[str, str]:
        stack, (team, crew) = self.stack, SINKS
        domain, forwarding = stack.make_domain(DOMAIN), stack.make_domain(FORWARDING)
        ids = {name: stack.make_mailbox(domain, name)["id"] for name in ("alice", "bob", "carol", "dave", *movers)}
        ids["fred"] = stack.make_mailbox(forwarding, "fred")["id"]
        for name, destination in (("team", f"fred@{FORWARDING},{team}"), ("crew", crew)):
            body = {"domain_id": forwarding, "source_local_part": name, "destination": destination}
            stack.do("POST", "/aliases", body)
        off = {"junk_score": "off", "reject_score": "off"}
        stack.do("PATCH", f"/mailboxes/{ids['bob']}/filtering", off)
        stack.do("PATCH", f"/mailboxes/{ids['carol']}/filtering", {"junk_score": 20, "reject_score": "off"})
        for name, which, value in (("bob", "deny", MALLORY), ("dave", "allow", ANN)):
            entry = {"list": which, "kind": "address", "value": value}
            stack.do("POST", f"/mailboxes/{ids[name]}/filtering/entries", entry)
        return ids

    # -- state

    def component(self, part: str) -> str:
        wanted = _COMPONENTS.get(part, "filter")
        components = self.stack.do("GET", "/health/details")["components"]
        return next(each["status"] for each in components if each["component"] == wanted)

    def count_alerts(self, part: str, what: Literal["failed", "recovered"]) -> int:
        """The alerts about a part so far."""
        alert, word = _ALERTS.get(part, ("filter", part))
        query = (
            "SELECT count(*) FROM events "
            "WHERE kind = 'system.alert' AND data->>'alert' = %s AND data->>'reason' ILIKE %s"
        )
        row = self.sql.execute(query, [f"{alert}_{what}", f"%{word}%"]).fetchone()
        assert row
        return row[0]

    def count_unsealed_alerts(self) -> int:
        query = "SELECT count(*) FROM events WHERE kind = 'system.alert' AND data->>'alert' = 'forward_unsealed'"
        row = self.sql.execute(query).fetchone()
        assert row
        return row[0]

    def lessons(self) -> int:
        row = self.sql.execute("SELECT coalesce(sum(accepted), 0) FROM filter_lessons").fetchone()
        assert row
        return row[0]

    def pid(self, part: str) -> int | None:
        if part == "dns":
            return self._dns.pid if self._dns else self._dns_pid
        try:
            pid = int((run_folder(self.stack.data_dir) / "pids" / f"{part}.pid").read_text("ascii").split()[0])
        except (OSError, ValueError, IndexError):
            return None
        return pid if Path(f"/proc/{pid}").exists() else None

    def wait_until_normal(self) -> None:
        """Wait for the first message of each kind, and the scanner."""
        eventually(lambda: len(self.stream.normal_since(0.0)) == len(KINDS), _PATIENCE, "mail of each kind")
        self._wait_component("clamd", lambda status: status == "ok")

    # -- faults

    def _signal(self, part: str, sent: signal.Signals) -> list[int]:
        pid = eventually(lambda: self.pid(part), 60, part)
        pids = child.list_session(pid) or [pid]
        for each in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, sent)
        return pids

    def _start_dns(self) -> None:
        """As the supervisor of another machine would."""
        command = [
            sys.executable,
            "-m",
            "tests.stack.names",
            str(self.stack.names),
            "53",
            str(self.stack.folder / "zones"),
        ]
        with (self.stack.folder / "names2.log").open("ab") as output:
            self._dns = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=output)

    @contextlib.contextmanager
    def _away(self, part: str, fault: Fault) -> Generator[None]:
        """The part is away during the block, with `killed` until its supervisor restarts it."""
        up = int((self.stack.data_dir / "lock").read_text())
        is_held = fault == "killed and kept away" and part != "dns"
        if is_held:
            os.kill(up, signal.SIGSTOP)
        try:
            pids = self._signal(part, signal.SIGSTOP if fault.startswith("stopped") else signal.SIGKILL)
            yield
        finally:
            if is_held:
                os.kill(up, signal.SIGCONT)
        if fault == "stopped":
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)
        elif part == "dns":
            self._start_dns()

    def inflict(self, part: str, fault: Fault, seconds: float, *, alert: bool) -> Report:
        """Let a part be away for `seconds`, with `alert` at least until one is there, and wait for normal operation."""
        self._wait_component(part, lambda status: status == "ok")
        report, before = Report(part, fault), self.pid(part)
        failed, recovered = self.count_alerts(part, "failed"), self.count_alerts(part, "recovered")
        unsealed, lessons = self.count_unsealed_alerts(), self.lessons()
        self.movers.change()
        begun = time.monotonic()
        with self._away(part, fault):
            gone = time.monotonic()
            while time.monotonic() < begun + seconds:
                time.sleep(0.1)
            while alert and time.monotonic() < begun + _PATIENCE and report.alert is None:
                if self.count_alerts(part, "failed") > failed:
                    report.alert = time.monotonic() - begun
                elif part != "dns" and self.pid(part) not in (None, before):
                    break  # restarted
                time.sleep(0.2)
            if fault == "stopped for good":
                eventually(lambda: self.pid(part) not in (None, before), _PATIENCE, f"another process {part}")
            elif report.alert is not None:
                report.component = self._wait_component(part, lambda status: status != "ok")
        ended = time.monotonic()
        report.away = ended - begun
        report.back = self._wait_normal(ended, lessons if part == "learner" else None, report)
        back = time.monotonic()
        self.windows.append(Window(part, begun, back))
        report.restarted = fault.startswith("stopped") and self.pid(part) != before
        report.replies = self._count_replies(gone, ended)
        report.waiting = sum(gone < each.begun < ended < each.ended for each in list(self.stream.attempts))
        report.longest_move = max([took for at, took in self.movers.moves if at > begun], default=0.0)
        if not alert:
            return report
        report.settled = self.settle(back, report.wrong)
        if report.alert is not None:
            try:
                eventually(lambda: self.count_alerts(part, "recovered") > recovered, _PATIENCE, "the end of the alert")
                self._wait_component(part, lambda status: status == "ok")
                report.ok = time.monotonic() - ended
            except AssertionError as error:
                report.wrong.append(str(error))
            if part == "keys" and self.count_unsealed_alerts() <= unsealed:
                report.wrong.append("no alert that mail was forwarded without a seal")
        elif not report.restarted:
            report.wrong.append("no alert")
        return report

    def _wait_component(self, part: str, wanted: Callable[[str], bool]) -> str:
        def look() -> str | None:
            status = self.component(part)
            return status if wanted(status) else None

        return eventually(look, _PATIENCE, f"the component of {part}")

    def _wait_normal(self, ended: float, lessons: int | None, report: Report) -> float:
        """The seconds until all kinds of mail end as always, and moves teach again."""

        def is_normal() -> bool:
            return len(self.stream.normal_since(ended)) == len(KINDS) and (lessons is None or self.lessons() > lessons)

        try:
            eventually(is_normal, _PATIENCE, "normal operation")
        except AssertionError as error:
            missing = {kind.name for kind in KINDS} - self.stream.normal_since(ended).keys()
            report.wrong.append(f"{error}: {', '.join(sorted(missing)) or 'lessons'}")
        found = self.stream.normal_since(ended)
        return max(found.values(), default=0.0) if lessons is None else time.monotonic() - ended

    def _count_replies(self, gone: float, ended: float) -> Counter[str]:
        return Counter(
            f"{attempt.kind.name}: {attempt.code or 'lost'}"
            for attempt in list(self.stream.attempts)
            if attempt.begun > gone + 0.1 and attempt.ended < ended
        )

    def settle(self, since: float, wrong: list[str]) -> float:
        """The seconds until the copies of all mail that was accepted before are where they belong."""
        accepted = [(token, each) for token, each in list(self.stream.ended.items()) if each.code == 250]

        def is_settled() -> bool:
            time.sleep(0.4)
            found = self.whereabouts.read()
            return all(found.get(token, Counter()).total() >= len(each.kind.normal) for token, each in accepted)

        try:
            eventually(is_settled, _PATIENCE, "the copies")
        except AssertionError as error:
            wrong.append(str(error))
        return time.monotonic() - since

    def compare(self) -> list[str]:
        """What is wrong in the end: with mail that came in, forwarded copies without a seal, and moved messages."""
        late = list[str]()
        self.settle(time.monotonic(), late)
        found = self.whereabouts.read()
        wrong = late + find_wrong(self.stream, self.windows, found)
        for token, problems in self.whereabouts.leaving.items():
            attempt = self.stream.ended.get(token)
            is_excused = attempt and any(each.part == "keys" and each.touches(attempt) for each in self.windows)
            wrong += [f"{token} was forwarded {each}" for each in problems if each != UNSEALED or not is_excused]
        moved = [token for token, copies in found.items() for _ in range(copies.total()) if token.startswith("move-")]
        for balance in (
            self.stream.ledger.compare_with(token for token in found if token in self.stream.ledger.attempts),
            self.movers.ledger.compare_with(moved),
        ):
            if not balance.empty:
                wrong.append(str(balance))
        in_junk = {token for token, copies in found.items() if any("Junk" in place for place in copies)}
        wrong += [f"{token} was moved, and is not in Junk" for token in self.movers.ledger.succeeded - in_junk]
        return wrong + self.movers.problems
