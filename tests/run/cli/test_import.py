"""`mailkeep mailbox import` and `export`, with an instance of the embedded profile (many rows: `make prove-import`)."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import shutil
import signal
import smtplib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mailkeep.run.cli import bulk
from tests.run.cli.test_cli import Result, inside
from tests.support import instance
from tests.support.imports import DOMAIN, Session, count_half_created, run_import, write_table
from tests.support.scratch import new_directory

ROWS, FAULTY = 30, 10
HASH = "{SHA}2jmj7l5rSw0yVb/vlWAYkK/YBwk="
LOGINS_SECONDS = 20.0


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    folder = new_directory("mailkeep-import-", 0o755, programs=True)
    started = Session(instance.start(folder / "data"))
    started.call("POST", "/domains", {"name": DOMAIN})
    yield started
    assert started.instance.stop() == 0
    shutil.rmtree(folder)


def run(session: Session, *words: str, code: int = 0, content: bytes = b"") -> Result:
    result = inside(*words, data=session.instance.data_dir, stdin=content)
    assert result.code == code, result
    return result


def test_a_table_is_imported_and_faulty_rows_are_listed(session: Session, tmp_path: Path):
    table = tmp_path / "staff.csv"
    expected = write_table(table, ROWS, FAULTY)
    trial = run_import(session, table, "--dry-run")
    assert (trial.codes(), trial.output["succeeded"]) == (expected, ROWS - FAULTY)
    assert session.call("GET", "/mailboxes") == []
    done = run_import(session, table)
    assert (done.codes(), done.output["succeeded"]) == (expected, ROWS - FAULTY)
    assert count_half_created(session, ROWS - FAULTY) == {}
    assert done.login_seconds
    assert max(done.login_seconds) < LOGINS_SECONDS
    exported = run(session, "mailbox", "export", "--domain", DOMAIN).out
    assert len(list(csv.reader(io.StringIO(exported)))) == 1 + ROWS - FAULTY
    result = run(session, "mailbox", "import", "-", "--action", "delete", content=exported.encode())
    assert result.out == f"Deleted: {ROWS - FAULTY:,} of {ROWS - FAULTY:,} rows.\n"


def test_a_large_table_is_split(session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """In parts of five rows; the last row repeats one of the first part."""
    monkeypatch.setattr("mailkeep.features.directory.bulk.model.MAX_ITEMS", 5)
    table = tmp_path / "large.csv"
    addresses = [f"u{number}@{DOMAIN}" for number in range(12)] + [f"U3@{DOMAIN}"]
    table.write_text("address,password_hash\n" + "".join(f"{each},{HASH}\n" for each in addresses))
    options = [bulk._ImportOptions(table, "create", dry_run=dry_run) for dry_run in (True, False)]
    for each, reason in zip(options, ("repeated", "address_taken"), strict=True):
        result = asyncio.run(bulk._import(session.instance.data_dir, "mailbox", each))
        [error] = result.data["errors"]
        assert (error["row"], error["name"], error["details"]["reason"]) == (14, f"U3@{DOMAIN}", reason)
        assert (result.data["rows"], result.data["succeeded"], result.code) == (13, 12, 1)
    near = tmp_path / "near.csv"
    near.write_text(f"address;password_hash\nx@{DOMAIN};{HASH}\nX@{DOMAIN};{HASH}\n")
    result = asyncio.run(bulk._import(session.instance.data_dir, "mailbox", bulk._ImportOptions(near, "create", True)))
    assert [each["message"] for each in result.data["errors"]] == ["Row 2 is about this mailbox too."]
    for each in session.call("GET", "/mailboxes?limit=200"):
        session.call("DELETE", f"/mailboxes/{each['id']}?purge=true")


def test_aliases_are_imported_and_exported(session: Session, tmp_path: Path):
    table = tmp_path / "aliases.csv"
    table.write_text(f"domain,source_local_part,destination\n{DOMAIN},info,a@far.test\n{DOMAIN},x,nonsense\n")
    result = run(session, "alias", "import", str(table), code=1)
    lines = result.out.splitlines()
    assert lines[0].split() == ["ROW", "NAME", "CODE", "REASON"]
    assert lines[1].split()[:3] == ["3", f"x@{DOMAIN}", "INVALID_FIELD"]
    assert lines[-1] == "Created: 1 of 2 rows."
    assert run(session, "alias", "export").out.splitlines()[1:] == [f'"{DOMAIN}","info","a@far.test","true"']


def test_folders_are_listed_and_the_usage_is_recalculated(session: Session):
    domain = session.call("GET", "/domains")[0]["id"]
    body = {"domain_id": domain, "local_part": "zoe", "password_hash": HASH}
    mailbox_id = session.call("POST", "/mailboxes", body)["id"]
    host, _, port = session.instance.smtp.rpartition(":")
    with smtplib.SMTP(host, int(port), timeout=30) as client:
        client.sendmail("someone@far.test", f"zoe@{DOMAIN}", "Subject: Hello\r\n\r\nHi.\r\n")
    folders = json.loads(run(session, "mailbox", "folders", f"ZOE@{DOMAIN}", "--json").out)["folders"]
    assert [(each["name"], each["messages"], each["unseen"]) for each in folders] == [("INBOX", 1, 1)]
    assert "INBOX" in run(session, "mailbox", "folders", f"zoe@{DOMAIN}").out
    usage = json.loads(run(session, "mailbox", "recalculate", f"zoe@{DOMAIN}", "--json").out)
    assert (usage["message_count"], usage["used_bytes"]) == (1, folders[0]["bytes"])
    assert "no mailbox" in run(session, "mailbox", "folders", f"nobody@{DOMAIN}", code=1).err
    assert "no @" in run(session, "mailbox", "recalculate", "nobody", code=1).err
    session.call("DELETE", f"/mailboxes/{mailbox_id}?purge=true")


def test_what_can_not_be_imported_is_said(session: Session, tmp_path: Path):
    assert "domain" in run(session, "mailbox", "export", "--domain", "nowhere.test", code=1).err
    assert "No such file" in run(session, "mailbox", "import", str(tmp_path / "none.csv"), code=1).err
    assert "address" in run(session, "mailbox", "import", "-", content=b"name\nA\n", code=1).err
    empty = run(session, "mailbox", "import", "-", content=b"address,password\n")
    assert empty.out == "Created: 0 of 0 rows.\n"


def test_an_import_survives_kill_9(session: Session):
    """The instance is killed in the middle of an operation, which continues after the restart."""
    rows = 20
    items = [
        {
            "address": f"user{number}@{DOMAIN}",
            "name": f"User {number}",
            "password": f"a long word {number}",
            "quota_bytes": 1 << 30,
        }
        for number in range(rows)
    ]
    operation = session.call("POST", "/mailboxes/bulk", {"action": "create", "items": items})["operation_id"]

    def follow(until: int) -> dict[str, Any]:
        deadline = time.monotonic() + 110
        while time.monotonic() < deadline:
            status = session.call("GET", f"/operations/{operation}")
            if status["progress"]["done"] >= until:
                return status
            time.sleep(0.05)
        pytest.fail("the operation does not continue")

    follow(5)
    session.instance.stop(signal.SIGKILL)
    session.moved(instance.start(session.instance.data_dir))
    status = follow(rows)
    assert status["progress"] == {"done": rows, "total": rows, "failed": 0}
    assert count_half_created(session, rows) == {}
    entries = session.call("GET", "/audit?action=mailbox.create&limit=200")
    created = {each["id"] for each in status["results"]}
    assert sorted(entry["resource_id"] for entry in entries if entry["resource_id"] in created) == sorted(created)
