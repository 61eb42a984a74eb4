"""JSON of invitations."""

from __future__ import annotations

from msgspec import Struct

from mailkeep.core.clock import iso
from mailkeep.features.access.invitations.model import Invitation
from mailkeep.web.fields import Timestamp


class InvitationRecord(Struct, frozen=True):
    """An invitation. `url`, the link, is shown only once; null if it was mailed to `sent_to`. It works once, until
    `expires_at`.
    """

    url: str | None
    sent_to: str | None
    expires_at: Timestamp


def to_record(invitation: Invitation) -> InvitationRecord:
    """The response for an invitation."""
    return InvitationRecord(invitation.url, invitation.sent_to, iso(invitation.expires_at))
