"""The webmail of the shared instance: its URLs, programs in its PHP, and sign-ins from any address."""

from __future__ import annotations

import http.client
import json
import re
import socket
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from mailkeep.db.instance import run_folder
from mailkeep.mail.daemons.paths import InstancePaths
from tests.stack.harness import ADDRESS, HOSTNAME, Stack, add_port_with_xclient, eventually, trusting

HOST, DOMAIN = "webmail.stack.test", "webmail.test"
RESOLVER_RULES = "--host-resolver-rules=MAP *.stack.test 127.0.0.1"


@dataclass
class Webmail:
    """The instance and the URLs of its HTTPS listener."""

    stack: Stack

    @property
    def url(self) -> str:
        return f"https://{HOST}:{self.stack.ports['https']}/"

    @property
    def dashboard(self) -> str:
        return f"https://{HOSTNAME}:{self.stack.ports['https']}"

    @property
    def uploads(self) -> Path:
        """The folder that PHP sees as /tmp."""
        return self.stack.data_dir / "webmail" / "tmp"

    def make_mailbox(self, local_part: str, **more: object) -> dict[str, Any]:
        """A new mailbox of this name."""
        domain = self.stack.get_domain(DOMAIN)
        for each in self.stack.do("GET", f"/mailboxes?domain_id={domain}"):
            if each["address"] == f"{local_part}@{DOMAIN}":
                self.stack.do("DELETE", f"/mailboxes/{each['id']}?purge=true")
        return self.stack.make_mailbox(domain, local_part, **more)


def change(stack: Stack, changes: dict[str, object]) -> dict[str, str]:
    """Change settings and apply them; the actions by service."""
    stack.do("PATCH", "/config", {"changes": changes})
    plan = stack.do("GET", "/orchestrator/plan")
    assert all(check["ok"] for check in plan["checks"]), plan["checks"]
    body = {"plan_id": plan["id"], "watch_seconds": 5, "overwrite_drift": ["postfix/master.cf"]}

    def start() -> dict[str, object] | None:
        """Another operation, which a test has begun, may still be running."""
        answer = stack.ask("POST", "/orchestrator/apply", body)
        return None if answer.status == 409 else answer.data

    started = eventually(start, 60, "the end of the operation before")

    def ended() -> dict[str, object] | None:
        operation = stack.do("GET", f"/orchestrator/operations/{started['operation_id']}")
        return operation if operation["state"] != "running" else None

    operation = eventually(ended, 120, "the apply")
    assert operation["state"] == "succeeded", operation
    add_port_with_xclient(stack.data_dir, stack.ports, "")  # which was overwritten
    return {each["service"]: each["action"] for each in plan["actions"]}


def run_php(webmail: Webmail, program: str) -> Any:
    """What a program prints that PHP's pool runs, as if an attacker had planted it."""
    (webmail.uploads / "planted.php").write_text(program)
    (webmail.uploads / "planted.php").chmod(0o644)
    variables = {"REQUEST_METHOD": "GET", "SCRIPT_NAME": "/x.php", "SCRIPT_FILENAME": "/tmp/planted.php"}
    pairs = b"".join(bytes([len(name), len(value)]) + (name + value).encode() for name, value in variables.items())
    records = [(1, struct.pack("!HB5x", 1, 0)), (4, pairs), (4, b""), (5, b"")]
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(60)
        connection.connect(str(InstancePaths(webmail.stack.data_dir, run_folder(webmail.stack.data_dir)).php_socket))
        for kind, content in records:
            connection.sendall(struct.pack("!BBHHBB", 1, kind, 1, len(content), 0, 0) + content)
        received = b""
        while chunk := connection.recv(1 << 16):
            received += chunk
    (webmail.uploads / "planted.php").unlink()
    output = b""
    while received:
        _, kind, _, length, padding, _ = struct.unpack("!BBHHBB", received[:8])
        output += received[8 : 8 + length] if kind == 6 else b""
        received = received[8 + length + padding :]
    return json.loads(output.partition(b"\r\n\r\n")[2])


def ask(
    webmail: Webmail,
    method: str,
    path: str,
    cookies: str = "",
    body: str = "",
    source: str = ADDRESS,
    host: str = HOST,
) -> tuple[http.client.HTTPResponse, str]:
    """A request to the webmail, from a source address: the answer, and its text."""
    port = webmail.stack.ports["https"]
    connection = http.client.HTTPSConnection(host, port, context=trusting(), timeout=60)
    plain = socket.create_connection((ADDRESS, port), 60, (source, 0))
    connection.sock = trusting().wrap_socket(plain, server_hostname=host)
    headers = {"Host": f"{host}:{port}", "Cookie": cookies, "Content-Type": "application/x-www-form-urlencoded"}
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer, text


def sign_in(webmail: Webmail, source: str, address: str, password: str) -> bool:
    """Sign in to the webmail from a source address; whether it opened the mailbox."""
    answer, page = ask(webmail, "GET", "/", source=source)
    cookies = (answer.getheader("Set-Cookie") or "").partition(";")[0]
    token = re.search(r'name="_token" value="([^"]+)', page)
    assert token, page
    fields = {"_token": token[1], "_task": "login", "_action": "login", "_user": address, "_pass": password}
    answer, _ = ask(webmail, "POST", "/?_task=login", cookies, urlencode(fields), source)
    assert answer.status in (302, 401), answer.status
    return answer.status == 302
