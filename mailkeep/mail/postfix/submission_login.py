"""The login name of a submission session: the mailbox's address and its access version, `alice@example.org/17`.

Dovecot returns it for a verified password (`mta_login`). Postfix writes it to its log and sends it to the policy
service and the filter as `sasl_username`. They get nothing else about the session, so the name contains the version,
which changes with the access to the mailbox (password, state, address, protocols).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_VERSIONED = re.compile(r"(.+@[^@/]+)/([0-9]{1,18})", re.ASCII)


@dataclass(frozen=True, slots=True)
class SubmissionLogin:
    """The mailbox's address and its access version (None: not in the name)."""

    address: str
    version: int | None = None


def parse_login(name: str) -> SubmissionLogin:
    """Parse a login name. Any other form is an address without a version."""
    match = _VERSIONED.fullmatch(name)
    return SubmissionLogin(match[1], int(match[2])) if match else SubmissionLogin(name)
