"""Mail programs with a mailbox's own password and with app passwords, in and out of their scope."""

from __future__ import annotations

import contextlib
import imaplib
import poplib
from collections.abc import Callable
from pathlib import Path

from tests.prove.checks import Checks
from tests.prove.client_programs import run, sieve_connect
from tests.stack.harness import ADDRESS, PASSWORD, Stack, trusting

SCOPES: dict[str, list[str]] = {
    "all protocols": ["imap", "pop3", "smtp", "sieve"],
    "imap alone": ["imap"],
    "pop3 alone": ["pop3"],
    "smtp alone": ["smtp"],
    "sieve alone": ["sieve"],
}


def prove(stack: Stack, checks: Checks, folder: Path) -> None:
    mailbox = stack.make_mailbox(stack.make_domain("scopes.test"), "alice")
    path = f"/mailboxes/{mailbox['id']}/app-passwords"
    created = {
        scope: stack.do("POST", path, {"name": scope, "protocols": protocols}) for scope, protocols in SCOPES.items()
    }
    address = mailbox["address"]
    programs = _programs(stack, folder)
    for scope in ("own password", *SCOPES):
        password = created[scope]["password"] if scope in created else PASSWORD
        allowed = SCOPES.get(scope, SCOPES["all protocols"])
        works = {name: program(address, password) for name, (_, program) in programs.items()}
        expected = {name: protocol in allowed for name, (protocol, _) in programs.items()}
        checks.check(scope, works == expected, ", ".join(f"{name} {_word(good)}" for name, good in works.items()))
    client = stack.imap(address, created["imap alone"]["password"])
    client.sock.settimeout(30)
    stack.do("DELETE", f"{path}/{created['imap alone']['id']}")
    ended = False
    with contextlib.suppress(TimeoutError):
        while client.readline():
            pass
        ended = True
    checks.check("an app password is deleted: its open IMAP session ends", ended)
    client.shutdown()
    _, mbsync = programs["mbsync"]
    checks.check("and mbsync is refused with it", not mbsync(address, created["imap alone"]["password"]))


def _word(works: bool) -> str:
    return "works" if works else "is refused"


def _programs(stack: Stack, folder: Path) -> dict[str, tuple[str, Callable[[str, str], bool]]]:
    """By their name: the protocol, and whether the program works with an address and a password."""
    ports = stack.ports

    def by_mbsync(address: str, password: str) -> bool:
        config = folder / "app-password.mbsyncrc"
        (folder / "app-password").mkdir(exist_ok=True)
        config.write_text(
            f'IMAPAccount a\nHost {ADDRESS}\nPort {ports["imaps"]}\nUser {address}\nPass "{password}"\nSSLType IMAPS\n'
            f"SystemCertificates no\nCertificateFile {stack.data_dir}/tls/self-signed.pem\n\n"
            f"IMAPStore far\nAccount a\n\nMaildirStore near\nPath {folder}/app-password/\n\n"
            f"Channel all\nFar :far:\nNear :near:\n"
        )
        return run(["mbsync", "-c", str(config), "--list", "all"])[0] == 0

    def by_imaplib(address: str, password: str) -> bool:
        try:
            stack.imap(address, password).logout()
        except imaplib.IMAP4.error:
            return False
        return True

    def by_poplib(address: str, password: str) -> bool:
        client = poplib.POP3_SSL(ADDRESS, ports["pop3s"], timeout=60, context=trusting())
        try:
            client.user(address)
            client.pass_(password)
        except poplib.error_proto:
            return False
        finally:
            client.close()
        return True

    def by_swaks(port: str, tls: str) -> Callable[[str, str], bool]:
        server = ["swaks", "--server", ADDRESS, "--port", str(ports[port]), "--helo", "client.test", "--timeout", "30"]

        def send(address: str, password: str) -> bool:
            login = ["--auth", "PLAIN", "--auth-user", address, "--auth-password", password]
            return run([*server, tls, *login, "--from", address, "--to", address])[0] == 0

        return send

    return {
        "imaplib": ("imap", by_imaplib),
        "mbsync": ("imap", by_mbsync),
        "poplib": ("pop3", by_poplib),
        "swaks on port 587": ("smtp", by_swaks("submission", "--tls")),
        "swaks on port 465": ("smtp", by_swaks("submissions", "--tls-on-connect")),
        "sieve-connect": ("sieve", lambda address, password: sieve_connect(stack, address, password, "--list")[0] == 0),
    }
