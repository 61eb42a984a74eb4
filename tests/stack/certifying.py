"""An instance of the full profile with ACME on, and Pebble as its authority; sessions that last while it renews."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator
from pathlib import Path

from cryptography import x509

from tests.stack import harness
from tests.stack.harness import ADDRESS, HOSTNAME, Stack, eventually
from tests.support.pebble import PEBBLE, Pebble

DOMAIN = "hosted.test"


@contextlib.contextmanager
def certified(folder: Path) -> Iterator[tuple[Stack, Pebble]]:
    """The instance, whose API is on port 80 of a loopback address; nothing leads there yet."""
    assert PEBBLE
    address = harness.free_address(80)
    pebble = Pebble(folder / "pebble", "")
    acme = {
        "HTTP__LISTEN": f"{address}:80",
        "ACME__ENABLED": "true",
        "ACME__AGREE_TERMS": "true",
        "ACME__DIRECTORY": pebble.directory,
        "ACME__EXTRA_CA_FILE": str(pebble.ca_file),
        "ACME__ALLOWED_NETWORKS": json.dumps(["127.0.0.0/8"]),
        "ACME__DOMAIN_NAMES": json.dumps(["autoconfig", "mail"]),
    }
    harness.start(folder, (), None, **acme)
    stack = Stack(folder)
    pebble.dns = f"{stack.names}:53"
    with pebble:
        yield stack, pebble


def lead_here(stack: Stack) -> None:
    """Publish the names of the server and of the hosted domain, with the address of the API."""
    address = stack.api.removeprefix("http://").partition(":")[0]
    stack.publish("stack.test", f"mx A {address}", f'mx TXT "v=spf1 ip4:{harness.OUR_ADDRESS} a -all"')
    stack.publish(DOMAIN, f"mail A {address}", f"autoconfig A {address}")


def find(stack: Stack, name: str) -> dict[str, object]:
    """A certificate, from the API; that of a new domain comes within seconds."""

    def look() -> dict[str, object] | None:
        return next((each for each in stack.do("GET", "/certificates?limit=100") if each["name"] == name), None)

    return eventually(look, 30, f"the certificate of {name}")


def renew(stack: Stack, name: str) -> str:
    """Renew a certificate and wait until it is another one; its serial number."""
    before = find(stack, name)
    stack.do("POST", f"/certificates/{before['id']}/renew", {})

    def is_new() -> str | None:
        now = find(stack, name)
        return str(now["serial"]) if now["source"] == "acme" and now["serial"] != before["serial"] else None

    return eventually(is_new, 60, f"a new certificate of {name}")


def presented(stack: Stack, port: str, server_name: str = HOSTNAME) -> x509.Certificate:
    """The certificate that a port presents to a client that asks for this name."""
    context = harness.trusting()
    with socket.create_connection((ADDRESS, stack.ports[port]), 30) as plain:
        if port in ("smtp", "submission"):
            lines = plain.makefile("rwb")
            for command in (b"EHLO client.test\r\n", b"STARTTLS\r\n"):
                _read_reply(lines)
                lines.write(command)
                lines.flush()
            _read_reply(lines)
        with context.wrap_socket(plain, server_hostname=server_name) as tls:
            return x509.load_der_x509_certificate(tls.getpeercert(binary_form=True) or b"")


def _read_reply(lines: socket.SocketIO | object) -> None:
    while (line := lines.readline())[3:4] == b"-":  # type: ignore[attr-defined]
        pass
    assert line[:1] in b"23", line


def names_of(certificate: x509.Certificate) -> list[str]:
    """The host names of a certificate."""
    found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return found.get_values_for_type(x509.DNSName)


def wait_until_presented(stack: Stack, serial: str, ports: tuple[str, ...], server_name: str = HOSTNAME) -> None:
    """Wait until all ports present the certificate with this serial number."""
    for port in ports:
        eventually(
            lambda port=port: f"{presented(stack, port, server_name).serial_number:x}" == serial,
            60,
            f"the new certificate on {port}",
        )
