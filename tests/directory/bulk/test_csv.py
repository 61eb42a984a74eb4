"""Tables: import, export, hostile input, formulas."""

from __future__ import annotations

import asyncio
import csv
import io
from contextlib import suppress
from typing import Any

import pytest
from starlette.types import Message

from mailkeep.core.errors import Forbidden
from mailkeep.features.directory.bulk.jobs import BulkWorker
from mailkeep.web.csv_table import parse_csv, write_csv
from tests.support.builders import DOMAIN_ID
from tests.support.caller import Answer, Caller
from tests.support.client import ADMIN_IDS, DOMAIN_IDS, EXAMPLE, OTHER, PASSWORD_HASH, Api, Client, faults

HASH = "{ARGON2ID}" + PASSWORD_HASH


async def upload(client: Client, path: str, content: bytes | str, **query: Any) -> Answer:
    raw = content.encode() if isinstance(content, str) else content
    headers = {"content-type": "text/csv; charset=utf-8"}
    return await client("POST", f"{path}/bulk", raw, query={"action": "create", **query}, headers=headers)


async def run(api: Api, client: Client, path: str, content: bytes | str, **query: Any) -> list[Any]:
    """The error of each row: its code, None for success."""
    answer = await upload(client, path, content, **query)
    assert answer.status == 202, answer.body
    await BulkWorker(api.app).drain()
    operation = (await client.get(f"/operations/{answer.data['operation_id']}")).data
    assert operation["state"] == "succeeded"
    return [each["error"] and each["error"]["code"] for each in operation["results"]]


async def test_a_table_is_imported_with_a_result_for_each_row(api: Api):
    table = (
        "\ufeffAddress,name,password_hash,quota_bytes,active\r\n"
        f'a@{EXAMPLE},"Ann, the ""first""",{quote(HASH)},1000,yes\r\n'
        "\r\n"
        f"b@{EXAMPLE},,{quote(HASH)},,no\r\n"
        f"c@{EXAMPLE},C,{quote(HASH)},many,true\r\n"
        f"d@{EXAMPLE},D,{quote(HASH)},1,maybe\r\n"
        f"e@{EXAMPLE},E,{quote(HASH)}\r\n"
        f"nobody,E,{quote(HASH)},,\r\n"
    )
    errors = [None, None, "INVALID_FIELD", "INVALID_FIELD", "INVALID_FIELD", "INVALID_FIELD"]
    assert await run(api, api.dora, "/mailboxes", table, dry_run="true") == errors
    assert await api.sql("SELECT FROM mailboxes") == []
    assert await run(api, api.dora, "/mailboxes", table) == errors
    rows = await api.sql("SELECT local_part, name, quota_bytes, active FROM mailboxes ORDER BY local_part")
    assert [tuple(row.values()) for row in rows] == [("a", 'Ann, the "first"', 1000, True), ("b", "", 0, False)]


def quote(text: str) -> str:
    return f'"{text}"'


async def test_a_table_changes_and_deletes_by_name_or_id(api: Api):
    alice, alias = (
        await api.mailbox(f"alice@{EXAMPLE}", name="Alice"),
        await api.alias(f"info@{EXAMPLE}", ["a@far.test"]),
    )
    table = f"address,name,quota_bytes,active\nALICE@{EXAMPLE},,7,false\n"
    assert await run(api, api.dora, "/mailboxes", table, action="update") == [None]
    [row] = await api.sql("SELECT name, quota_bytes, active FROM mailboxes")
    assert tuple(row.values()) == ("Alice", 7, False)  # an empty cell changes nothing
    table = f"id,address,name\n{alice},alice@{EXAMPLE},Al\n"  # with both, the ID decides
    assert await run(api, api.dora, "/mailboxes", table, action="update") == [None]
    table = f"domain,source_local_part,destination,active\n{EXAMPLE},INFO,b@far.test,\n{EXAMPLE},,x@far.test,\n"
    assert await run(api, api.dora, "/aliases", table, action="update") == [None, "NOT_FOUND"]
    assert (await api.dora.get(f"/aliases/{alias}")).data["destination"] == "b@far.test"
    assert await run(api, api.dora, "/aliases", table, action="delete") == [None, "NOT_FOUND"]
    # The file of an export is enough to delete what it lists.
    exported = (await api.dora.get("/mailboxes/export")).body
    assert await run(api, api.dora, "/mailboxes", exported, action="delete") == [None]


NO_TABLES: list[tuple[bytes, str, list[str] | None]] = [
    (b"address,name\n\xff\xfe@x,\n", "INVALID_FIELD", [""]),
    ("address,name\na@x.test,\n".encode("utf-16"), "INVALID_FIELD", [""]),
    (b"address,name\na\0@x.test,\n", "INVALID_FIELD", [""]),
    (b'address,name\n"a@x.test,\n', "INVALID_FIELD", [""]),
    (b'address,name\n"a"b,\n', "INVALID_FIELD", [""]),
    (b"address,address\na,b\n", "INVALID_FIELD", [""]),
    (b"address,Passwort\na,b\n", "INVALID_FIELD", ["passwort"]),
    (b"name;quota\na;b\n", "MISSING_FIELDS", ["address", "quota"]),
    (b"name\na\n", "MISSING_FIELDS", ["address"]),
    (b"address," + b"x" * 500_000 + b"\na,b\n", "INVALID_FIELD", [""]),
    (b";" * 2_000_001, "INVALID_FIELD", [""]),
    (b"," * 1_000_000, "INVALID_FIELD", [""]),
    (b"address,name\n" + b"\n" * 1_100_000, "INVALID_FIELD", [""]),
    (b"address,name\n" + b"\r" * 1_100_001, "INVALID_FIELD", [""]),
    (b"\n\n\n", "INVALID_FIELD", [""]),
    (b"address,name\n", "EMPTY_BATCH", None),
    (b"address,name\n" + b"a,b\n" * 1001, "BATCH_TOO_LARGE", None),
    (b"address,name\n" + b"a" * (16 << 20), "PAYLOAD_TOO_LARGE", None),
]


async def test_what_is_no_table_is_refused_as_a_whole(api: Api):
    for content, code, fields in NO_TABLES:
        answer = await upload(api.dora, "/mailboxes", content)
        assert answer.code == code, content[:50]
        if fields is not None:
            assert faults(answer) == fields, content[:50]
    assert await api.sql("SELECT FROM bulk_operations") == []


async def test_control_characters_and_line_breaks_are_errors_of_their_rows(api: Api):
    rows = [(f"a@{EXAMPLE}", "two\nlines", HASH), (f"b@{EXAMPLE}", "\x07", HASH), (f"c@{EXAMPLE}", "C", HASH)]
    table = write_csv([("address", "name", "password_hash"), *rows])
    assert await run(api, api.dora, "/mailboxes", table) == ["INVALID_FIELD", "INVALID_FIELD", None]


async def test_the_media_type_decides_how_a_body_is_read(api: Api):
    table = b"address\na@example.test\n"
    for content_type, status in (
        ("text/csv", 202),
        ("text/csv; header=present; charset=UTF-8", 202),
        ("text/csv; charset=latin1", 415),
        ("text/plain", 415),
    ):
        headers = {"content-type": content_type}
        answer = await api.dora("POST", "/mailboxes/bulk", table, query={"action": "delete"}, headers=headers)
        assert answer.status == status, content_type
    answer = await api.dora("POST", "/aliases", table, headers={"content-type": "text/csv"})
    assert answer.status == 415  # only where tables are expected
    answer = await api.dora("POST", "/mailboxes/bulk", table, headers={"content-type": "text/csv"})
    assert (answer.code, faults(answer)) == ("MISSING_FIELDS", ["action"])
    body = {"action": "delete", "items": [{}]}
    answer = await api.dora("POST", "/mailboxes/bulk", body, query={"action": "create"})
    assert (answer.code, faults(answer)) == ("INVALID_FIELD", ["action"])


async def test_an_export_can_be_opened_in_a_spreadsheet_and_imported_again(api: Api):
    names = ["=1+1", "+1", "-1", "@SUM(A1)", "'=quoted", "''=twice", "＝fullwidth", "O'Brien", "'plain'", 'a "b", c']
    for number, name in enumerate(names):
        await api.mailbox(f"u{number}@{EXAMPLE}", name=name, quota_bytes=number)
    await api.mailbox(f"+plus@{EXAMPLE}")
    await api.mailbox(f"foreign@{OTHER}")
    await api.mailbox(f"trash@{EXAMPLE}", deleted_at=api.clock())
    answer = await api.dora.get("/mailboxes/export")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="mailboxes.csv"'
    [columns, *rows] = csv.reader(io.StringIO(answer.body.decode()))
    assert columns == ["address", "name", "quota_bytes", "active"]
    assert len(rows) == len(names) + 1
    dangerous = ("=", "+", "-", "@", "\t", "\r", "＝")
    assert not [cell for row in rows for cell in row if cell.startswith(dangerous)]
    assert [row[1] for row in rows][:7] == [
        "'=1+1",
        "'+1",
        "'-1",
        "'@SUM(A1)",
        "''=quoted",
        "'''=twice",
        "'＝fullwidth",
    ]
    await api.sql("UPDATE mailboxes SET name = ''")
    assert set(await run(api, api.dora, "/mailboxes", answer.body, action="update")) == {None}
    stored = await api.sql("SELECT name FROM mailboxes WHERE local_key LIKE 'u%%' ORDER BY quota_bytes")
    assert [row["name"] for row in stored] == names


async def test_an_export_of_aliases_covers_the_domains_of_the_caller(api: Api):
    await api.alias(f"info@{EXAMPLE}", ["a@far.test", "b@far.test"])
    await api.alias(f"@{EXAMPLE}", ["c@far.test"], active=False)
    await api.alias(f"sales@{OTHER}", ["d@far.test"])

    async def rows(client: Client, **query: Any) -> list[list[str]]:
        answer = await client.get("/aliases/export", **query)
        assert answer.status == 200, answer.body
        return sorted(list(csv.reader(io.StringIO(answer.body.decode())))[1:])

    own = [[EXAMPLE, "", "c@far.test", "false"], [EXAMPLE, "info", "a@far.test,b@far.test", "true"]]
    foreign = [OTHER, "sales", "d@far.test", "true"]
    assert await rows(api.dora) == await rows(api.scoped) == await rows(api.sue, domain_id=DOMAIN_ID) == own
    assert await rows(api.adam) == [*own, foreign]
    assert (await api.dora.get("/aliases/export", domain_id=DOMAIN_IDS[OTHER])).code == "FORBIDDEN"
    [*_, entry] = await api.audit_entries("alias.export")
    assert (entry["domain_id"], entry["domain_name"]) == (DOMAIN_IDS[EXAMPLE], EXAMPLE) or entry["domain_id"] is None


async def test_an_export_with_several_pages_is_complete(api: Api, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("mailkeep.features.directory.bulk.service._EXPORT_PAGE", 2)
    for number in range(5):
        await api.mailbox(f"u{number}@{EXAMPLE}")
    lines = (await api.dora.get("/mailboxes/export")).body.decode().splitlines()
    assert [line.split(",")[0] for line in lines[1:]] == [f'"u{number}@{EXAMPLE}"' for number in range(5)]


async def test_the_key_of_a_dry_run_does_not_answer_the_import(api: Api):
    table, answers = f"address,password_hash\na@{EXAMPLE},{HASH}\n".encode(), list[Answer]()
    headers = {"content-type": "text/csv", "idempotency-key": "import"}
    for dry_run in ("true", "true", "false"):
        query = {"action": "create", "dry_run": dry_run}
        answers.append(await api.dora("POST", "/mailboxes/bulk", table, query=query, headers=headers))
    assert [answer.code for answer in answers] == [None, None, "IDEMPOTENCY_MISMATCH"]
    assert answers[0].data == answers[1].data


@pytest.mark.parametrize("path", ["/mailboxes/export", "/aliases/export"])
async def test_a_slow_reader_gets_nothing_after_its_rights_are_withdrawn(
    api: Api, monkeypatch: pytest.MonkeyPatch, path: str
):
    monkeypatch.setattr("mailkeep.features.directory.bulk.service._EXPORT_PAGE", 2)
    for number in range(5):
        await api.mailbox(f"u{number}@{EXAMPLE}")
        await api.alias(f"u{number}@{EXAMPLE}", ["x@far.test"])
    received = b""

    async def send(message: Message) -> None:
        nonlocal received
        received += message.get("body", b"")
        if b"u1" in received:
            await api.sue.patch(f"/admins/{ADMIN_IDS['dora']}", {"domain_ids": []})

    async def receive() -> Message:
        return await asyncio.get_running_loop().create_future()  # the client stays connected

    scope = Caller(api.dora.app).scope("GET", f"/api/v1{path}", dict(api.dora.headers))
    with suppress(Forbidden):  # which closes the connection
        await asyncio.wait_for(api.dora.app(scope, receive, send), 60)
    assert (b"u1" in received, b"u2" in received) == (True, False)


def test_rows_have_the_numbers_of_a_spreadsheet():
    table = parse_csv(b"\na\n1\n\n,\n2\n", 10)
    assert (table.columns, table.rows, table.numbers) == (["a"], [["1"], ["2"]], [3, 6])


@pytest.mark.parametrize("text", ["=a", "'=a", "''", "'", "a'=", "\t", "", " =a", '"', "a\nb", "−1", "\r"])
def test_cells_survive_writing_and_reading(text: str):
    assert parse_csv(b"a,b\r\n" + write_csv([[text, "x"]]), 10).rows == [[text, "x"]]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_is_that_of_the_first_line(delimiter: str):
    text = f'\r\n"a,;x"{delimiter}b\r\n"1,2;3\t4"{delimiter}5\r\n'
    table = parse_csv(text.encode(), 10)
    assert (table.columns, table.rows) == (["a,;x", "b"], [["1,2;3\t4", "5"]])
