"""An instance of the embedded profile whose backups are made, verified and restored."""

from __future__ import annotations

import http.client
import json
import smtplib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from mailkeep.core.clock import utc_now
from mailkeep.core.ids import uuid7
from mailkeep.db.postgres import running_urls
from tests.support.instance import Instance

EMAIL, PASSWORD = "sue@example.test", "correct horse battery staple"
FIRST = {"MAILKEEP_ADMIN_EMAIL": EMAIL, "MAILKEEP_ADMIN_PASSWORD": PASSWORD}
HASH = "{SHA256}" + "x" * 44


@dataclass
class Server:
    """A running instance of the embedded profile, and a session of its administrator."""

    instance: Instance
    cookie: str = ""

    @property
    def data_dir(self) -> Path:
        return self.instance.data_dir

    def call(self, method: str, path: str, body: Any = None, expected: int | None = None) -> Any:
        host, _, port = self.instance.http.removeprefix("http://").rpartition(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=30)
        headers = {"Content-Type": "application/json", "Cookie": self.cookie}
        connection.request(method, f"/api/v1{path}", None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        content = json.loads(answer.read())
        if expected:
            assert answer.status == expected, content
        if path == "/auth/login":
            self.cookie = (answer.getheader("set-cookie") or "").partition(";")[0]
        connection.close()
        return content["data"]

    def log_in(self) -> None:
        self.call("POST", "/auth/login", {"email": EMAIL, "password": PASSWORD}, 200)

    def add_domain(self, name: str) -> str:
        return self.call("POST", "/domains", {"name": name}, 201)["id"]

    def add_mailbox(self, domain_id: str, local_part: str) -> str:
        body = {"domain_id": domain_id, "local_part": local_part, "password_hash": HASH}
        return self.call("POST", "/mailboxes", body, 201)["id"]

    def deliver(self, address: str, *subjects: str) -> None:
        host, _, port = self.instance.smtp.rpartition(":")
        with smtplib.SMTP(host, int(port), "elsewhere.test", timeout=30) as client:
            for subject in subjects:
                message = f"Message-ID: <{subject}@elsewhere.test>\r\nSubject: {subject}\r\n\r\nHi.\r\n"
                client.sendmail("bob@elsewhere.test", [address], message)

    def maildir(self, mailbox_id: str) -> Path:
        return self.data_dir / "mail" / mailbox_id / "Maildir"

    def query(self, sql: str, **arguments: object) -> list[dict[str, Any]]:
        urls = running_urls(self.data_dir)
        assert urls
        with psycopg.Connection[dict[str, Any]].connect(urls.app, autocommit=True, row_factory=dict_row) as conn:
            cursor = conn.execute(sql.encode(), arguments)
            return list(cursor.fetchall()) if cursor.description else []

    def begin(self, kind: str, backup_id: UUID, argument: Mapping[str, Any] | None = None) -> UUID:
        """Insert an operation, as the API does."""
        operation_id, at = uuid7(utc_now()), utc_now()
        if kind == "create":
            self.query(
                "INSERT INTO backups (id, state, trigger, created_at, version)"
                " VALUES (%(id)s, 'running', 'manual', %(at)s, '1')",
                id=backup_id,
                at=at,
            )
        self.query(
            "INSERT INTO backup_operations (id, kind, state, backup_id, argument, author, created_at)"
            " VALUES (%(id)s, %(kind)s, 'waiting', %(backup)s, %(argument)s, 'sue', %(at)s)",
            id=operation_id,
            kind=kind,
            backup=backup_id,
            argument=Jsonb(dict(argument or {})),
            at=at,
        )
        return operation_id

    def wait(self, operation_id: UUID, seconds: float = 120) -> dict[str, Any]:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            [row] = self.query("SELECT * FROM backup_operations WHERE id = %(id)s", id=operation_id)
            if row["state"] not in ("waiting", "running"):
                return row
            time.sleep(0.1)
        raise AssertionError(f"the operation has not ended:\n{self.instance.log}")

    def perform(self, kind: str, backup_id: UUID, **argument: Any) -> dict[str, Any]:
        """The result of an operation that succeeds."""
        row = self.wait(self.begin(kind, backup_id, argument))
        assert row["state"] == "succeeded", f"{row['error']}\n{self.instance.log}"
        return row["result"]

    def back_up(self) -> UUID:
        backup_id = uuid7(utc_now())
        self.perform("create", backup_id)
        return backup_id
