"""The mailbox of the probe: a constant address of every full instance, and no row of any table (docs/decisions/0049).

The domain can't exist in the DNS (RFC 6761 §6.4) and can't be managed.
"""

from __future__ import annotations

DOMAIN = "mailkeep.invalid"
ADDRESS = f"probe@{DOMAIN}"
SMTP_CLIENTS = {4: "127.0.0.1", 6: "::1"}
"""The client address of the probe on port 25, by IP version."""
IMAP_CLIENTS = {4: "127.0.0.25", 6: "::1"}
"""The same for IMAP. After failed logins Dovecot delays all logins of an address, so the probe has one of its own."""
IMAP_NETWORKS = "127.0.0.0/8,::1/128"
"""Where a login of the probe is allowed (Dovecot's `allow_nets`)."""
QUOTA_BYTES = 1 << 20


def is_probe(address: str) -> bool:
    """Whether this is the probe's address."""
    return address.lower() == ADDRESS
