"""`mailkeep audit verify`: an export without a server, and the log of an instance."""

from __future__ import annotations

import http.client
import json
import time
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from mailkeep.core.ids import uuid7
from mailkeep.core.secret import Vault
from mailkeep.db import postgres
from mailkeep.features.record.audit import rules, wire
from mailkeep.features.record.audit.model import SEAL_KEY_PURPOSE, AuditEntry, ChainEntry
from mailkeep.run.runtime import context
from tests.run.cli.test_cli import Running, inside, instance
from tests.support.client import START, VAULT

KEY = b64encode(VAULT.public_key(SEAL_KEY_PURPOSE)).decode()
OTHER_KEY = b64encode(Vault(bytes(32)).public_key(SEAL_KEY_PURPOSE)).decode()


@pytest.fixture
def export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three entries under one seal, and a fourth that is not sealed."""
    monkeypatch.chdir(tmp_path)  # without a data directory
    monkeypatch.setattr(context, "FULL_DATA_DIR", tmp_path / "full")
    entry = AuditEntry(
        id=uuid7(START), created_at=START, admin_id=None, actor_type="cli", actor_label="root", key_id=None,
        action="domain.create", resource_type="domain", resource_id="1", domain_id=None, domain_name="example.test",
        ip_address=None, user_agent=None, request_id=None, outcome="success", error_code=None,
        details={"after": {"name": "=é"}},
    )  # fmt: skip
    rows = [ChainEntry(700 + number, replace(entry, id=uuid7(START))) for number in range(4)]
    seal = rules.next_seal(None, START, rows[2].position, [wire.to_leaf(row) for row in rows[:3]])
    seal = replace(seal, signature=VAULT.sign_publicly(SEAL_KEY_PURPOSE, seal.hash))
    seals = [[], [], [seal], []]
    file = tmp_path / "audit.ndjson"
    lines = [
        wire.add_seals(wire.export_line(row), seals[n], VAULT.public_key(SEAL_KEY_PURPOSE), False)
        for n, row in enumerate(rows)
    ]
    file.write_bytes(b"".join(line + b"\n" for line in lines))
    return file


def test_a_complete_export_is_verified(export: Path):
    result = inside("audit", "verify", export, "--public-key", KEY, "--json")
    assert result.code == 0
    found = result.json
    assert (found["ok"], found["checked"], found["unsealed"], found["bad"], found["public_key"]) == (
        True,
        3,
        1,
        [],
        KEY,
    )
    assert found["head"]["sequence"] == 1
    text = inside("audit", "verify", export)
    assert text.code == 0
    assert text.out.startswith("ok: 3 entries checked, 1 not sealed yet\n")
    assert text.out.endswith("Verified with the public key in the file: compare it with the server's.\n")


def test_a_changed_export_is_reported(export: Path):
    lines = export.read_bytes().splitlines(keepends=True)
    ids = [json.loads(line)["id"] for line in lines]
    export.write_bytes(b"".join([lines[0].replace(b"root", b"toor"), *lines[2:]]))
    result = inside("audit", "verify", export, "--public-key", KEY, "--json")
    assert result.code == 1
    assert result.json["first_bad"] == ids[0]
    assert result.json["bad"] == [
        {"problem": "altered", "id": ids[0], "seal": None},
        {"problem": "removed", "id": ids[1], "seal": None},
    ]
    text = inside("audit", "verify", export, "--public-key", KEY)
    assert text.out.splitlines()[:3] == [
        "bad: 3 entries checked, 1 not sealed yet",
        f"  entry {ids[0]} was altered",
        f"  entry {ids[1]} was removed",
    ]


def test_an_export_signed_by_another_server_is_reported(export: Path):
    result = inside("audit", "verify", export, "--public-key", OTHER_KEY)
    assert result.code == 1
    assert "seal 1 was altered" in result.out


def test_the_key_of_the_data_directory_is_used(export: Path, tmp_path: Path):
    (tmp_path / "secret").write_text(b64encode(bytes(32)).decode())
    result = inside("audit", "verify", export, "--json", data=tmp_path)
    assert (result.code, result.json["public_key"]) == (1, OTHER_KEY)


@pytest.mark.parametrize(
    "arguments, code, text",
    [
        (["{export}", "--public-key", "short"], 2, "32 bytes"),
        (["--public-key", KEY], 2, "requires FILE"),
        (["/nonexistent"], 1, "No such file"),
        (["{other}"], 1, "line 1 is not an entry of an export"),
        (["{empty}"], 1, "no seal"),
        (["{export}", "--data-dir", "/nonexistent/mailkeep"], 1, "no data directory"),
    ],
)
def test_a_file_that_cannot_be_verified_is_an_error(
    export: Path, tmp_path: Path, arguments: list[str], code: int, text: str
):
    (tmp_path / "other").write_text("id,action\n")
    (tmp_path / "empty").write_text("")
    names = {"{export}": str(export), "{other}": str(tmp_path / "other"), "{empty}": str(tmp_path / "empty")}
    result = inside("audit", "verify", *(names.get(argument, argument) for argument in arguments))
    assert result.code == code
    assert text in result.err


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with instance() as one:
        yield one


def fetch(running: Running, path: str, key: str) -> bytes:
    connection = http.client.HTTPConnection(running.state["http"].removeprefix("http://"), timeout=60)
    connection.request("GET", f"/api/v1{path}", headers={"authorization": f"Bearer {key}"})
    answer = connection.getresponse()
    assert answer.status == 200
    data = answer.read()
    connection.close()
    return data


def test_the_log_of_an_instance_is_sealed_and_verified(running: Running, tmp_path: Path):
    key = inside("key", "create", "k", "--admin", "admin@localhost", "--json", data=running.data).json["key"]
    assert running.call("POST", "/domains", {"name": "example.test"}, key)[0] == 201
    deadline = time.monotonic() + 60
    while (result := verify(running))["unsealed"] or not result["checked"]:
        assert time.monotonic() < deadline, result
        time.sleep(0.5)
    assert result["ok"] is True
    assert running.call("GET", "/audit/verify", key=key)[1]["public_key"] == result["public_key"]
    file = tmp_path / "audit.ndjson"
    file.write_bytes(fetch(running, "/audit/export?format=ndjson", key))
    offline = inside("audit", "verify", file, "--public-key", result["public_key"], "--json").json
    assert (offline["ok"], offline["unsealed"]) == (True, 0)
    actors = {(line["action"], line["actor"]["type"]) for line in map(json.loads, file.read_bytes().splitlines())}
    assert {("api_key.create", "cli"), ("domain.create", "api_key")} <= actors
    urls = postgres.running_urls(running.data)
    assert urls
    with psycopg.connect(urls.owner) as conn:
        conn.execute("UPDATE audit_entries SET actor_label = 'nobody' WHERE action = 'domain.create'")
    after = inside("audit", "verify", "--json", data=running.data)
    assert after.code == 1
    assert [one["problem"] for one in after.json["bad"]] == ["altered"]


def verify(running: Running) -> dict[str, Any]:
    return inside("audit", "verify", "--json", data=running.data).json
