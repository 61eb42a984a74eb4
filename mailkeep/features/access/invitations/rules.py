"""The token and the link of an invitation, and which requests for one are refused."""

from __future__ import annotations

from uuid import UUID

from mailkeep.core.address import Address, AddressError, parse_destination
from mailkeep.core.errors import Conflict, MissingFields, invalid_field
from mailkeep.core.secret import Vault
from mailkeep.features.access.invitations.model import PAGE


def derive_token(vault: Vault, invitation_id: UUID) -> str:
    """The token of an invitation: 43 characters that only the master secret yields."""
    return vault.sign("invitation", invitation_id.bytes)


def link_of(public_url: str, token: str) -> str:
    """The link with this token. Behind `#` it reaches no server, no log and no Referer header field."""
    return f"{public_url.removesuffix('/')}{PAGE}#{token}"


def parse_recipient(text: str | None) -> Address | None:
    """The address in `invite_to`, None without one; INVALID_FIELD."""
    if text is None:
        return None
    try:
        return parse_destination(text.strip(" "))
    except AddressError as error:
        raise invalid_field("invite_to", error.reason) from None


def check_request(*, invite: bool, is_mailed: bool, has_password: bool) -> None:
    """MISSING_FIELDS with neither a password nor `invite`; INVALID_FIELD with both, or with `invite_to` alone."""
    if not (invite or has_password):
        raise MissingFields(["password"])
    if invite and has_password:
        raise invalid_field("invite", "can't be given together with a password")
    if is_mailed and not invite:
        raise invalid_field("invite_to", "needs invite: true")


def refuse_in_bulk(*, invite: bool) -> None:
    """INVALID_FIELD for `invite` in an item of a bulk operation."""
    if invite:
        raise invalid_field("invite", "is not possible in bulk operations: use POST /mailboxes/{id}/invite afterwards")


def refuse_without_hostname(hostname: str) -> None:
    """CONFLICT `hostname_not_set` without a name from which the server can send mail."""
    if not hostname:
        raise Conflict(
            "The server can't send mail until its setting server.hostname is set. Without invite_to, the response has "
            "the link.",
            reason="hostname_not_set",
        )
