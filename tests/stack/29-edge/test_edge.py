"""nginx in front of a full instance: headers, protocols, client addresses, streams, and changes that lock users out."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import trustme

from mailkeep.core.security_headers import SECURITY_HEADERS
from mailkeep.db.instance import run_folder
from mailkeep.run.runtime import edge_sites, plan
from mailkeep.run.runtime.apply import Outcome
from mailkeep.settings.edge import EdgeSettings
from mailkeep.settings.server import TlsSettings
from tests.stack.applying import apply_draft, paths_of
from tests.stack.edge import Connection, Reply, ask
from tests.stack.harness import ADDRESS, ADMIN, HOSTNAME, PASSWORD, Stack, eventually
from tests.support.instance import PROGRAM
from tests.support.ports import free_port

pytestmark = pytest.mark.timeout(300)
ONCE = {*(name.decode() for name, _ in SECURITY_HEADERS), "strict-transport-security", "content-type", "date", "server"}


def over_https(stack: Stack, method: str, path: str, body: object = None, **more: Any) -> Reply:
    """A request to nginx as the first administrator."""
    port, source = more.pop("port", stack.ports["https"]), more.pop("source", ADDRESS)
    fields = {"Content_Type": "application/json", "Cookie": stack.cookie} | more
    text = None if body is None else json.dumps(body)
    return ask(Connection(port, source=source), method, f"/api/v1{path}", text, **fields)


def directly(stack: Stack, path: str) -> Reply:
    """A request to http.listen."""
    place = urlsplit(stack.api)
    return ask(http.client.HTTPConnection(place.hostname or "", place.port, timeout=30), "GET", path)


def test_each_security_header_is_there_once_over_nginx_and_without(stack: Stack) -> None:
    for path in ("/", "/docs", "/me", "/message-frame", "/api/v1/health", "/api/v1/domains", "/nothing/here"):
        for reply in (ask(Connection(stack.ports["https"]), "GET", path), directly(stack, path)):
            counts = {name: len(reply.get(name)) for name in ONCE}
            is_https = reply.get("server") == ["nginx"]
            expected = dict.fromkeys(ONCE, 1) | {"strict-transport-security": int(is_https), "server": int(is_https)}
            assert counts == expected, (path, reply.fields)


def test_http_2(stack: Stack) -> None:
    resolve = f"{HOSTNAME}:{stack.ports['https']}:{ADDRESS}"
    url = f"https://{HOSTNAME}:{stack.ports['https']}/api/v1/health"
    command = ["curl", "-sk", "--resolve", resolve, "--http2", "-o", "/dev/null", "-w", "%{http_version} %{http_code}"]
    assert subprocess.check_output([*command, url], text=True, timeout=30) == "2 200"


def test_the_client_address_is_that_of_the_connection(stack: Stack) -> None:
    body = {"email": ADMIN, "password": PASSWORD}
    forged = {"X_Forwarded_For": "198.51.100.1", "Forwarded": "for=198.51.100.1"}
    # Without the session: a login ends the one that it comes with.
    reply = over_https(stack, "POST", "/auth/login", body, source="127.0.0.9", Cookie="", **forged)
    assert reply.status == 200
    entries = stack.do("GET", "/audit?action=auth.login&limit=5")
    assert entries[0]["ip_address"] == "127.0.0.9"
    assert "198.51.100.1" not in json.dumps(entries)


def test_events_pass_without_a_buffer(stack: Stack) -> None:
    with contextlib.closing(Connection(stack.ports["https"])) as connection:
        connection.request("GET", "/api/v1/events/stream", headers={"Cookie": stack.cookie})
        response = connection.getresponse()
        assert (response.status, response.getheader("Content-Type")) == (200, "text/event-stream; charset=utf-8")
        mailbox = stack.make_mailbox(stack.make_domain("streamed.test"), "ann")
        stack.deliver(mailbox["address"])
        deadline = time.monotonic() + 30
        while b"mail.received" not in (line := response.readline()):
            assert line
            assert time.monotonic() < deadline


def test_names_of_a_new_domain_are_served_at_once(stack: Stack) -> None:
    domain_id = stack.make_domain("hosted.test")

    def status(name: str) -> int:
        try:
            return ask(Connection(stack.ports["https"], name), "GET", "/.well-known/mta-sts.txt").status
        except ssl.SSLError:
            return 0

    eventually(lambda: status("mta-sts.hosted.test") == 404, 20, "the name")  # it has no policy yet
    stack.do("PATCH", f"/domains/{domain_id}", {"mta_sts_mode": "testing"})
    reply = ask(Connection(stack.ports["https"], "mta-sts.hosted.test"), "GET", "/.well-known/mta-sts.txt")
    assert (reply.status, b"STSv1" in reply.body) == (200, True), reply
    stack.do("PATCH", f"/domains/{domain_id}", {"active": False})
    eventually(lambda: status("mta-sts.hosted.test") == 0, 20, "the end of the name")


@pytest.fixture
def clean(alone: Stack, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    """The instance, whose environment the test has too; afterwards with the settings of before."""
    pid = int((run_folder(alone.data_dir) / "pids" / "node.pid").read_text().split()[0])
    for entry in Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0"):
        if entry.startswith("MAILKEEP_"):
            monkeypatch.setenv(*entry.split("=", 1))
    yield alone
    alone.do("PATCH", "/config", {"changes": {"outbound.hide_client": None}})
    if alone.do("GET", "/orchestrator/plan")["actions"]:
        assert asyncio.run(apply_draft(alone.data_dir, watch_seconds=0.1)).state == "succeeded"


def waits(stack: Stack) -> dict[str, Any] | None:
    """The operation that waits for a confirmation."""
    operation_id = stack.do("GET", "/orchestrator")["operation_id"]
    operation = stack.do("GET", f"/orchestrator/operations/{operation_id}") if operation_id else None
    return operation if operation and operation["confirm_until"] else None


def apply_while(look: Callable[[], None], stack: Stack, **options: Any) -> Outcome:
    """Apply the newest settings, and call `look` when they wait for a confirmation."""
    with ThreadPoolExecutor() as pool:
        applying = pool.submit(lambda: asyncio.run(apply_draft(stack.data_dir, watch_seconds=0.1, **options)))
        eventually(lambda: waits(stack) or applying.done(), 60, "the confirmation")
        look()
        return applying.result(timeout=60)


def answers(stack: Stack, port: int) -> bool:
    try:
        return over_https(stack, "GET", "/health", port=port).status == 200
    except OSError:
        return False


def test_another_https_port_must_be_confirmed_over_it(clean: Stack) -> None:
    old, new = clean.ports["https"], free_port(ADDRESS)
    ports = EdgeSettings(enabled=True, listen=(ADDRESS,), http_port=clean.ports["http"], https_port=new)
    sections, warnings = {"edge": ports}, list[str]()

    def read_warnings(draft: plan.Draft) -> plan.Draft:
        warnings.extend(draft.plan.warnings)
        return draft

    def nobody_reaches_it() -> None:
        eventually(lambda: answers(clean, new), 5, "the new listener")
        assert not answers(clean, old)

    def confirm() -> None:
        nobody_reaches_it()
        operation = waits(clean)
        assert operation
        assert operation["confirm_url"] == f"https://{HOSTNAME}:{new}"
        refused = clean.ask("POST", "/orchestrator/confirm").body["error"]
        assert refused["details"] == {"reason": "other_listener", "url": f"https://{HOSTNAME}:{new}"}
        assert directly_confirm(clean).error["details"]["reason"] == "other_listener"
        command = [*PROGRAM, "orchestrator", "confirm", "--data-dir", str(clean.data_dir)]
        refused_command = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert (refused_command.returncode, f"https://{HOSTNAME}:{new}" in refused_command.stderr) == (1, True)
        assert over_https(clean, "POST", "/orchestrator/confirm", port=new).status == 200

    outcome = apply_while(nobody_reaches_it, clean, change=read_warnings, sections=sections, confirm_seconds=8)
    assert (outcome.state, outcome.error) == ("rolled_back", "The change was not confirmed within 8 seconds.")
    assert f"120 seconds for your confirmation at https://{HOSTNAME}:{new}," in "".join(warnings)
    assert (answers(clean, old), answers(clean, new)) == (True, False)

    assert apply_while(confirm, clean, sections=sections).state == "succeeded"
    assert (answers(clean, old), answers(clean, new)) == (False, True)
    # The settings that are in use have the old port; the plan does not know that they were not applied.
    assert asyncio.run(apply_draft(clean.data_dir, watch_seconds=0.1)).state == "succeeded"
    assert (answers(clean, old), answers(clean, new)) == (True, False)


def directly_confirm(stack: Stack) -> Reply:
    """A confirmation over http.listen that claims to come from nginx, with the right ID."""
    listener = next(
        line.split()[1].rstrip(";")
        for line in (stack.data_dir / "nginx" / "conf" / "nginx.conf").read_text().splitlines()
        if line.split()[:1] == ["https"]
    )
    place = urlsplit(stack.api)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)
    return ask(connection, "POST", "/api/v1/orchestrator/confirm", Cookie=stack.cookie, X_Mailkeep_Listener=listener)


def test_a_certificate_for_another_name_is_rolled_back(clean: Stack, tmp_path: Path) -> None:
    authority, folder = trustme.CA(), tmp_path
    authority.cert_pem.write_to_path(folder / "ca.pem")
    wrong = authority.issue_cert("wrong.test")
    wrong.private_key_pem.write_to_path(folder / "key.pem")
    wrong.cert_chain_pems[0].write_to_path(folder / "cert.pem")
    served = clean.data_dir / "tls" / "served.pem"
    before = served.read_bytes()

    def try_to_confirm() -> str:
        connection = Connection(clean.ports["https"], verify=str(folder / "ca.pem"))
        with pytest.raises(ssl.SSLCertVerificationError) as raised:
            ask(connection, "POST", "/api/v1/orchestrator/confirm")
        return str(raised.value)

    def is_presented() -> bool:
        if "Hostname mismatch" in try_to_confirm():
            return True
        # The process `node` has other settings here, because `tls.*` can't be stored: it has put its certificate back.
        served.write_bytes(wrong.private_key_and_cert_chain_pem.bytes())
        edge_sites.reload(paths_of(clean.data_dir))
        return False

    def nobody_trusts_it() -> None:
        eventually(is_presented, 6, "the new certificate")
        assert clean.ask("POST", "/orchestrator/confirm").body["error"]["details"]["reason"] == "other_listener"

    tls = TlsSettings(certificate_file=str(folder / "cert.pem"), key_file=str(folder / "key.pem"))
    clean.do("PATCH", "/config", {"changes": {"outbound.hide_client": False}})
    outcome = apply_while(nobody_trusts_it, clean, sections={"tls": tls}, confirm_seconds=8)
    assert outcome.state == "rolled_back", outcome
    assert served.read_bytes() == before
    assert answers(clean, clean.ports["https"])
    own = ssl.get_server_certificate((ADDRESS, clean.ports["imaps"]))
    assert own.strip() in before.decode()
