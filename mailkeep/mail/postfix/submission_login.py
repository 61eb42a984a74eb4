"""The name that a login has in a submission session: the mailbox's address and the version of its access.

Dovecot returns it for a verified password (`mta_login`), Postfix passes it on as `sasl_username`: in its log, to the
policy service and to the filter. Nothing else about a session reaches them, so the version stands in the name:
`alice@example.org/17`. It changes with the access to the mailbox (password, state, address, protocols).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_VERSIONED = re.compile(r"(.+@[^@/]+)/([0-9]{1,18})", re.ASCII)


@dataclass(frozen=True, slots=True)
class SubmissionLogin:
    """`address` is the mailbox's; `version` of its access is None where the name has none."""

    address: str
    version: int | None = None


def parse_login(name: str) -> SubmissionLogin:
    """The login with this name. A name in another form is an address without a version."""
    match = _VERSIONED.fullmatch(name)
    return SubmissionLogin(match[1], int(match[2])) if match else SubmissionLogin(name)
