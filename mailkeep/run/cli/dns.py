"""The command that prints the DNS records of a domain."""

from __future__ import annotations

import ipaddress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from mailkeep.run.cli.output import AsJson, CommandResult, DataDir, examples, open_app, run_command


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command("dns", epilog=examples("mailkeep dns example.com", "mailkeep dns example.com --json"))(dns)


def dns(
    domain: Annotated[str, typer.Argument(metavar="DOMAIN", help="A managed domain.")],
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Print the DNS records that a domain needs.

    Prints lines for a zone file: MX, SPF, DKIM and DMARC. The server's name in them is the setting server.hostname,
    else the system's host name; its addresses are the setting server.addresses.
    """
    run_command(as_json, _dns(data_dir, domain))


async def _dns(data_dir: Path | None, name: str) -> CommandResult:
    from mailkeep.core.address import AddressError, normalize_domain
    from mailkeep.core.errors import Failure
    from mailkeep.features.directory.dkim import service as dkim
    from mailkeep.features.directory.dns import rules
    from mailkeep.features.directory.domains import service as domains

    try:
        name = normalize_domain(name)
    except AddressError as error:
        raise Failure(f"{name} is not a domain name: {error.reason}.", permanent=True) from None
    async with open_app(data_dir) as app:
        server = app.settings.server
        hostname = server.mail_domain
        async with app.db.autocommit() as conn:
            domain = await domains.find_by_name(conn, name)
            if domain is None:
                raise Failure(f"There is no domain {name} on this server.", permanent=True)
            keys = await dkim.list_records(conn, domain.id)
            is_host_managed = await domains.find_by_name(conn, hostname) is not None
        if "." not in hostname or hostname.startswith("localhost."):
            text = f"Set server.hostname to the public name of this server, such as mx.{name}. Now it is {server.name}."
            raise Failure(text, permanent=True)
        host_keys = [] if is_host_managed else await dkim.ensure_host_keys(app, hostname)
    addresses = [text for text in server.addresses if not ipaddress.ip_address(text).is_loopback]
    records = rules.required_records(name, hostname, addresses, keys, host_keys)
    lines: list[str] = []
    for record in records:
        value = _to_zone_value(record.type, record.value)
        lines += [f"; {record.purpose}", f"{record.name}. 3600 IN {record.type} {value}"]
    return CommandResult({"domain": name, "records": [asdict(record) for record in records]}, lines)


def _to_zone_value(kind: str, value: str) -> str:
    """A value for a zone file: TXT as strings of at most 255 octets (RFC 1035 §3.3.14)."""
    if kind != "TXT":
        return value
    return " ".join(f'"{value[start : start + 255]}"' for start in range(0, len(value), 255))
