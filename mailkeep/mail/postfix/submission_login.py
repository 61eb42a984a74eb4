"""The login name of a submission session: the mailbox's address and the access that the password opened,
`alice@example.org/17` or, with an app password, `alice@example.org/17/23`.

Dovecot returns it for a verified password (`mta_login`, `mta_app_login`). Postfix writes it to its log and sends it to
the policy service and the filter as `sasl_username`. They get nothing else about the session, so the name contains the
version of the access, which changes with it (password, state, address, protocols), and the number of the app password.

The user `apikey` with an API key as the password (`mta_key_login`) gets the login `key:` and the key's ID.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from uuid import UUID

from mailkeep.core.ids import parse_uuid

KEY_USER = "apikey"
"""The user name with which clients present an API key as the password."""
_KEY_PREFIX = "key:"
_WITH_ACCESS = re.compile(r"(.+@[^@/]+)/([0-9]{1,18}(?:/[0-9]{1,18})?)", re.ASCII)


@dataclass(frozen=True, slots=True)
class SubmissionLogin:
    """The mailbox's address and the access, `17` or `17/23` (empty: not in the name)."""

    address: str
    access: str = ""


def parse_login(name: str) -> SubmissionLogin:
    """Parse a login name. Any other form is an address without an access."""
    match = _WITH_ACCESS.fullmatch(name)
    return SubmissionLogin(match[1], match[2]) if match else SubmissionLogin(name)


def parse_key_login(name: str) -> UUID | None:
    """The API key in a login name, `key:ID`; None for any other."""
    return parse_uuid(name.removeprefix(_KEY_PREFIX)) if name.startswith(_KEY_PREFIX) else None
