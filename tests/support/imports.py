"""A table of new mailboxes with faulty rows, its import by the command line, and what it cost."""

from __future__ import annotations

import http.cookiejar
import json
import os
import subprocess
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mailkeep.web.csv_table import write_csv
from tests.support.instance import PROGRAM, Instance

DOMAIN = "example.test"
COLUMNS = ("address", "name", "password", "password_hash", "quota_bytes", "active")
_LOGIN_PAUSE = 0.5
_LONGEST_SECONDS = 3600.0


def _good(number: int) -> list[str]:
    return [f"user{number}@{DOMAIN}", f"User {number}", f"a long word {number}", "", str(1 << 30), "true"]


# What is wrong with a row, and the error that its result must have.
FAULTS: Sequence[tuple[Callable[[list[str]], list[str]], str]] = (
    (lambda row: ["no address", *row[1:]], "INVALID_FIELD"),
    (lambda row: [f"{row[0]}@{DOMAIN}", *row[1:]], "INVALID_FIELD"),
    (lambda row: [row[0].replace(DOMAIN, "unknown.test"), *row[1:]], "DOMAIN_NOT_FOUND"),
    (lambda row: [row[0], row[1], "short", *row[3:]], "WEAK_PASSWORD"),
    (lambda row: [row[0], row[1], "", *row[3:]], "MISSING_FIELDS"),
    (lambda row: [row[0], row[1], row[2], "{SHA}x", *row[4:]], "INVALID_FIELD"),
    (lambda row: [*row[:4], "5 GB", row[5]], "INVALID_FIELD"),
    (lambda row: [*row[:5], "perhaps"], "INVALID_FIELD"),
    (lambda row: row[:4], "INVALID_FIELD"),
    (lambda row: [f"USER0@{DOMAIN}", *row[1:]], "CONFLICT"),
)


def write_table(path: Path, rows: int, faulty: int) -> dict[int, str]:
    """Write a table of new mailboxes, of which some rows are faulty; the expected errors by row (of a spreadsheet)."""
    step = rows // faulty
    expected: dict[int, str] = {}
    table: list[Sequence[str]] = [COLUMNS]
    for number in range(rows):
        row = _good(number)
        if number % step == step - 1 and len(expected) < faulty:
            change, code = FAULTS[len(expected) % len(FAULTS)]
            row, expected[number + 2] = change(row), code
        table.append(row)
    path.write_bytes(write_csv(table))
    return expected


@dataclass
class Session:
    """The first administrator's session."""

    instance: Instance
    _open: urllib.request.OpenerDirector = field(init=False)

    def __post_init__(self) -> None:
        self._open = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
        self._password = (self.instance.data_dir / "initial-admin").read_text().strip()
        self._cookie = ""
        self.sign_in()

    def sign_in(self) -> None:
        body = {"email": "admin@localhost", "password": self._password}
        request = self._request("POST", "/auth/login", body)
        with self._open.open(request, timeout=60) as response:
            self._cookie = response.headers["set-cookie"].partition(";")[0]

    def call(self, method: str, path: str, body: Any = None) -> Any:
        with self._open.open(self._request(method, path, body), timeout=60) as response:
            return json.load(response)["data"]

    def _request(self, method: str, path: str, body: Any) -> urllib.request.Request:
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json", "cookie": self._cookie}
        return urllib.request.Request(f"{self.instance.http}/api/v1{path}", data, headers, method=method)

    def moved(self, instance: Instance) -> Session:
        """The same session on the instance after its restart."""
        self.instance = instance
        return self


@dataclass(frozen=True)
class Import:
    """The result of an import by the command line: its output, seconds, and memory at its peak in MiB."""

    output: dict[str, Any]
    seconds: float
    client_mib: float
    server_mib: float
    login_seconds: Sequence[float]

    def codes(self) -> dict[int, str]:
        return {each["row"]: each["code"] for each in self.output["errors"]}


def run_import(session: Session, table: Path, *options: str) -> Import:
    """Import a table, while an administrator signs in again and again."""
    seconds: list[float] = []
    ended = threading.Event()

    def sign_in() -> None:
        while not ended.wait(_LOGIN_PAUSE):
            began = time.monotonic()
            session.sign_in()
            seconds.append(time.monotonic() - began)

    _reset_peak(session.instance.process.pid)
    thread = threading.Thread(target=sign_in)
    thread.start()
    began = time.monotonic()
    command = [
        *PROGRAM,
        "mailbox",
        "import",
        str(table),
        *options,
        "--json",
        "--data-dir",
        str(session.instance.data_dir),
    ]
    with tempfile.TemporaryFile() as stdout:
        process = subprocess.Popen(command, stdout=stdout, stderr=subprocess.DEVNULL)
        watchdog = threading.Timer(_LONGEST_SECONDS, process.kill)
        watchdog.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
            elapsed = time.monotonic() - began
        finally:
            watchdog.cancel()
            ended.set()
            thread.join()
        process.returncode = os.waitstatus_to_exitcode(status)
        stdout.seek(0)
        output = json.load(stdout)
    assert process.returncode == (1 if output["failed"] else 0), output
    return Import(output, elapsed, usage.ru_maxrss / 1024, _peak_mib(session.instance.process.pid), seconds)


def _reset_peak(pid: int) -> None:
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def _peak_mib(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def count_half_created(session: Session, rows: int) -> Counter[str]:
    """What is wrong with the mailboxes of an import: by kind, how often."""
    wrong: Counter[str] = Counter()
    found: set[str] = set()
    cursor = ""
    while True:
        request = session._request("GET", f"/mailboxes?limit=200&sort=address&cursor={cursor}", None)
        with session._open.open(request, timeout=60) as response:
            page = json.load(response)
        for each in page["data"]:
            number = each["local_part"].removeprefix("user")
            wrong["twice"] += each["address"] in found
            found.add(each["address"])
            wrong["incomplete"] += (each["name"], each["quota_bytes"]) != (f"User {number}", 1 << 30)
        cursor = page["meta"]["pagination"]["next_cursor"]
        if not cursor:
            break
    wrong["missing or surplus"] += abs(len(found) - rows)
    return +wrong
