"""Certificates of a running server: self-signed at first, then from an authority, on all ports, by SNI, without ending
sessions; revoked and replaced.
"""

from __future__ import annotations

import json
import smtplib
import stat
import subprocess
import urllib.request
from collections.abc import Iterator
from http.client import HTTPResponse
from typing import Any

import pytest

from mailkeep.db.instance import run_folder
from mailkeep.mail.daemons.paths import InstancePaths
from tests.stack import harness
from tests.stack.certifying import DOMAIN, certified, find, lead_here, names_of, presented, renew, wait_until_presented
from tests.stack.harness import HOSTNAME, Stack, eventually
from tests.support.instance import PROGRAM
from tests.support.pebble import PEBBLE, Pebble
from tests.support.scratch import new_directory

pytestmark = pytest.mark.skipif(PEBBLE is None, reason="pebble is not installed (`make daemons`)")
PORTS = ("smtp", "submission", "submissions", "imaps", "pop3s")


@pytest.fixture(scope="module")
def scene() -> Iterator[tuple[Stack, Pebble]]:
    harness.require_full_profile()
    folder = new_directory("mailkeep-acme-", 0o755, programs=True)
    try:
        with certified(folder) as (stack, pebble):
            yield stack, pebble
    finally:
        harness.stop(folder)
        subprocess.run(["rm", "-rf", str(folder)], check=False)


def run(stack: Stack, *arguments: str) -> Any:
    command = [*PROGRAM, *arguments, "--data-dir", str(stack.data_dir), "--json"]
    result = subprocess.run(command, capture_output=True, check=False, timeout=60)
    return json.loads(result.stdout)


def test_life_of_certificates(scene: tuple[Stack, Pebble]) -> None:
    stack, pebble = scene
    # The first start: self-signed, and it says so.
    first = eventually(lambda: found if (found := find(stack, "server"))["source"] == "self_signed" else None)
    assert first["managed"] is True
    assert presented(stack, "imaps").issuer == presented(stack, "imaps").subject
    (health,) = [
        each for each in stack.do("GET", "/health/details")["components"] if each["component"] == "certificates"
    ]
    assert health["details"]["self_signed"] is True
    assert "self-signed" in health["advice"]
    findings = {each["check"]: each for each in run(stack, "doctor")["checks"]}
    assert "self-signed" in findings["certificate"]["advice"]

    assert run(stack, "status")["self_signed"] is True
    (listed,) = run(stack, "certificates", "list")["certificates"]
    assert listed["source"] == "self_signed"

    stack.make_mailbox(stack.make_domain(DOMAIN), "alice")
    lead_here(stack)
    server, hosted = renew(stack, "server"), renew(stack, DOMAIN)
    wait_until_presented(stack, server, PORTS)
    assert names_of(presented(stack, "imaps")) == [HOSTNAME]
    # Clients that ask for the domain's name get its certificate, others the server's.
    for port in PORTS:
        wait_until_presented(stack, hosted, (port,), f"mail.{DOMAIN}")
        assert names_of(presented(stack, port, "unknown.test")) == [HOSTNAME]
    assert sorted(names_of(presented(stack, "imaps", f"mail.{DOMAIN}"))) == [f"autoconfig.{DOMAIN}", f"mail.{DOMAIN}"]
    folder = InstancePaths(stack.data_dir, run_folder(stack.data_dir)).tls / DOMAIN
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {each.name: stat.S_IMODE(each.stat().st_mode) for each in folder.iterdir()} == {
        "pair.pem": 0o600, "key.pem": 0o600, "fullchain.pem": 0o600,
    }  # fmt: skip

    # A replacement ends no session.
    with stack.imap(f"alice@{DOMAIN}") as imap, stack.login(f"alice@{DOMAIN}") as smtp, _stream(stack) as stream:
        server = renew(stack, "server")
        wait_until_presented(stack, server, PORTS)
        assert imap.noop()[0] == "OK"
        assert smtp.noop()[0] == 250
        letter = harness.letter(f"alice@{DOMAIN}", "Still here", sender=f"alice@{DOMAIN}")
        smtp.sendmail(f"alice@{DOMAIN}", [f"alice@{DOMAIN}"], letter)
        assert stream.readable()
    eventually(lambda: stack.mail_of(f"alice@{DOMAIN}"))

    # Revoked and replaced.
    before = find(stack, DOMAIN)
    stack.do("POST", f"/certificates/{before['id']}/revoke", {"reason": "key_compromise"})
    eventually(lambda: not find(stack, DOMAIN)["being_revoked"], 60, "the revocation")
    after = find(stack, DOMAIN)
    assert after["serial"] != before["serial"]
    assert pebble.status_of(str(before["serial"])) == "Revoked"
    wait_until_presented(stack, str(after["serial"]), ("imaps", "submission"), f"mail.{DOMAIN}")

    # A deleted domain has none any more.
    (domain,) = stack.do("GET", f"/domains?name={DOMAIN}")
    (mailbox,) = stack.do("GET", f"/mailboxes?domain_id={domain['id']}")
    stack.do("DELETE", f"/mailboxes/{mailbox['id']}?purge=true")
    stack.do("DELETE", f"/domains/{domain['id']}")
    eventually(lambda: not folder.exists(), 30, "the removal of the files")
    eventually(lambda: names_of(presented(stack, "imaps", f"mail.{DOMAIN}")) == [HOSTNAME])
    with pytest.raises(smtplib.SMTPException), stack.login(f"alice@{DOMAIN}"):
        pass


def _stream(stack: Stack) -> HTTPResponse:
    request = urllib.request.Request(f"{stack.api}/api/v1/events/stream", headers={"Cookie": stack.cookie})
    return urllib.request.urlopen(request, timeout=60)
