"""The configuration of the webmail: php-fpm and Roundcube, which run in a private root (`core/private_root`).

In its network PHP reaches `localhost`, where our process `webmail` listens on these ports, and no other host.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.settings import Settings

PORTS = {"imap": 143, "submission": 587, "sieve": 4190, "password": 80}
"""The ports in PHP's network."""
IMAP_PORT, SIEVE_PORT = 10143, 14190
"""The ports of Dovecot's listeners for the webmail, on a loopback address of the instance."""
DOCUMENT_ROOT = "/var/lib/roundcube/public_html"
"""Where Debian's package has the files that browsers get."""

ATTACHMENT_MB = 25
"""The limit for attachments of a message, in units of 2^20 bytes."""
_BASE64 = 1.37  # with line breaks
_FILES = ("php-fpm.conf", "config.inc.php", "mailkeep.php", "hosts", "nsswitch.conf")


def render_upstreams(settings: Settings, paths: InstancePaths) -> Mapping[str, str]:
    """Where our process `webmail` forwards PHP's connections to: a host and port, or a Unix socket."""
    if not settings.webmail.enabled:
        return {}
    upstreams = {
        "imap": (paths.own_address, IMAP_PORT),
        "sieve": (paths.own_address, SIEVE_PORT),
        "submission": str(paths.webmail_smtp),
        "password": str(paths.api_socket),
    }
    return {"upstreams.json": json.dumps(upstreams, indent=2) + "\n"}


def render_php(
    settings: Settings, database_folder: Path, key: str, fill: Callable[[str, Mapping[str, str]], str]
) -> Mapping[str, str]:
    """The files of php-fpm and Roundcube; none if the webmail is off."""
    if not settings.webmail.enabled:
        return {}
    largest = settings.limits.largest_message_bytes
    attachments = _count_attachment_bytes(settings)
    values = {
        "database_folder": str(database_folder),
        "key": key,
        "host": settings.webmail.host,
        "attachment_bytes": str(attachments),
        "post_bytes": str(count_post_bytes(settings)),
        "message_bytes": str(min(largest, int(attachments * _BASE64) + (1 << 20))),
        **{f"{name}_port": str(port) for name, port in PORTS.items()},
    }
    return {name: fill(f"php-fpm/{name}", values) for name in _FILES}


def count_post_bytes(settings: Settings) -> int:
    """The limit for a request's body: an attachment with the other fields of its form."""
    return _count_attachment_bytes(settings) + (2 << 20)


def _count_attachment_bytes(settings: Settings) -> int:
    return min(ATTACHMENT_MB << 20, int(settings.limits.largest_message_bytes / _BASE64))
