"""A second instance beside the first: it mails the first, and is ended while that works on; before, its certificate is
renewed, and connections that are open stay.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mailkeep.db.instance import run_folder
from mailkeep.run.runtime import service_status
from tests.run.runtime.test_certificate import KeyPair, pair_of
from tests.stack import harness
from tests.stack.harness import ADDRESS, Stack, eventually, trusting
from tests.support.instance import PROGRAM
from tests.support.scratch import new_directory


@pytest.fixture(scope="module")
def beside(stack_folder: Path) -> Iterator[Stack]:
    """A second instance, which relays external mail to the first."""
    folder = new_directory("mailkeep-beside-", 0o755, programs=True)
    write(folder, pair_of("mx.beside.test"))
    try:
        harness.start(
            folder,
            ("sleep", "600"),
            SERVER__HOSTNAME="mx.beside.test",
            OUTBOUND__RELAY=f"{ADDRESS}:{Stack(stack_folder).ports['smtp']}",
            OUTBOUND__RELAY_TLS="none",
            OUTBOUND__RELAY_NETWORKS=f'["{ADDRESS}/32"]',
            TLS__CERTIFICATE_FILE=str(folder / "their.pem"),
            TLS__KEY_FILE=str(folder / "their.key"),
        )
        yield Stack(folder)
    finally:
        harness.stop(folder)
        shutil.rmtree(folder)


def write(folder: Path, given: KeyPair) -> None:
    (folder / "their.key").write_bytes(given.key)
    (folder / "their.pem").write_bytes(given.certificate)


def served(stack: Stack) -> list[str]:
    """The certificates for new connections: SMTP with STARTTLS, and IMAP."""
    with stack.smtp() as client:
        client.starttls(context=trusting())
        assert isinstance(client.sock, ssl.SSLSocket)
        found = client.sock.getpeercert(binary_form=True)
        assert found
    return [ssl.DER_cert_to_PEM_cert(found), ssl.get_server_certificate((ADDRESS, stack.ports["imaps"]))]


def look_again(stack: Stack) -> None:
    os.kill(json.loads((stack.folder / "stack.json").read_text())["pids"][0], signal.SIGHUP)


def pids(stack: Stack) -> dict[str, int | None]:
    return {service.name: service.pid for service in service_status.list_services(run_folder(stack.data_dir))}


def test_a_renewed_certificate_is_served_while_connections_go_on(beside: Stack):
    beside.make_mailbox(beside.make_domain("renewed.test"), "bob")
    before = pids(beside)
    renewed = pair_of("mx.beside.test")
    with beside.imap("bob@renewed.test") as imap, beside.login("bob@renewed.test") as client:
        write(beside.folder, renewed)
        look_again(beside)
        expected = [renewed.certificate.decode()] * 2
        assert eventually(lambda: served(beside) == expected, what="the renewed certificate")
        assert imap.select("INBOX")[0] == "OK"
        assert client.noop()[0] == 250
    write(beside.folder, KeyPair(pair_of("mx.beside.test").certificate, renewed.key))
    look_again(beside)
    log_file = beside.folder / "up.log"
    assert eventually(lambda: "the renewed certificate is refused" in log_file.read_text(), what="the refusal")
    assert served(beside) == expected
    assert pids(beside) == before


def test_an_instance_with_an_occupied_port_names_its_owner(stack: Stack, tmp_path: Path):
    options = {
        "MAILKEEP_SERVER__ADDRESSES": json.dumps([ADDRESS]),
        "MAILKEEP_HTTP__LISTEN": f"{ADDRESS}:0",
        "MAILKEEP_HTTP__INTERNAL": f"{ADDRESS}:0",
        "MAILKEEP_PORTS__SUBMISSION": str(stack.ports["smtp"]),
    }
    command = [*PROGRAM, "up", "--profile", "full", "--data-dir", str(tmp_path / "data")]
    refused = subprocess.run(command, env=os.environ | options, capture_output=True, text=True, timeout=60, check=False)
    assert refused.returncode == 1
    holder = f"used by master (pid {pids(stack)['postfix']})"
    assert f"ports.submission: {ADDRESS}:{stack.ports['smtp']}: {holder}" in refused.stderr
    assert not (tmp_path / "data" / "pg").exists()


def test_two_instances_exchange_mail_and_one_can_end(stack: Stack, beside: Stack):
    before = pids(stack)
    stack.make_mailbox(stack.make_domain("here.test"), "alice")
    beside.make_domain("beside.test")
    assert beside.send("bob@beside.test", "alice@here.test", subject="From beside").status == 200
    (mail,) = eventually(lambda: stack.mail_of("alice@here.test"), what="the mail")
    assert b"Subject: From beside" in mail
    assert b"mx.beside.test" in mail
    assert not any(set(map(str, pids(beside).values())) & set(map(str, before.values())))
    harness.stop(beside.folder)
    assert not (beside.data_dir / "run.json").exists()
    assert not run_folder(beside.data_dir).joinpath("pids").exists()
    stack.deliver("alice@here.test", "After it")
    assert eventually(lambda: len(stack.mail_of("alice@here.test")) == 2, what="mail of the other")
    assert pids(stack) == before
