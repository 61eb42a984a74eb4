"""JSON of administrators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType, structs

from mailkeep.core.clock import iso, iso_or_none
from mailkeep.core.principal import Role
from mailkeep.features.access.admins.model import Admin
from mailkeep.features.access.invitations import service as invitations
from mailkeep.features.access.invitations.model import Invitation, Invite, InviteTo
from mailkeep.web.fields import Body, Email, Patch, Timestamp

# Not validated here: a bad password is WEAK_PASSWORD.
Password = Annotated[
    str, Meta(description="8 to 256 characters, not a common password, not the email. Never returned.")
]
OwnPassword = Annotated[str, Meta(description="The caller's current password.")]
Active = Annotated[bool, Meta(description="False: the account can't sign in, and its API keys are invalid.")]
MustChange = Annotated[
    bool,
    Meta(
        description="The account may only change its password: all other calls are FORBIDDEN password_change_required."
    ),
]
DomainIds = Annotated[list[UUID], Meta(max_length=1000)]


class AdminRecord(Struct, frozen=True):
    """An administrator. `domain_ids` are the assigned domains that the caller may see."""

    id: UUID
    email: str
    role: Role
    active: bool
    must_change_password: bool
    totp_enabled: bool
    passkeys: int
    oidc_provider: str | None
    last_login_at: Timestamp | None
    domain_ids: list[UUID]
    created_at: Timestamp
    updated_at: Timestamp


class AdminCreated(AdminRecord, frozen=True):
    """A new administrator, with `invitation` if it was invited; that is null when the response is repeated for an
    Idempotency-Key.
    """

    invitation: invitations.InvitationRecord | UnsetType | None = UNSET


class AdminCreate(Body, frozen=True):
    """An administrator to create, with `password` or `invite`; `domain_ids` are the domains assigned to a domain_admin.
    `current_password` is needed if `auth.confirm_admin_changes` is set and the session is older than ten minutes.
    """

    one_of: ClassVar[tuple[str, ...]] = ("password", "invite")

    email: Email
    password: Password | UnsetType = UNSET
    invite: Invite = False
    invite_to: InviteTo | UnsetType = UNSET
    role: Role = Role.ADMIN
    domain_ids: DomainIds = []
    active: Active = True
    must_change_password: MustChange = False
    current_password: OwnPassword | UnsetType = UNSET


class AdminPatch(Patch, frozen=True):
    """Changes; a new password or role ends the administrator's other sessions. `current_password` is required for
    the caller's own email or password, and for changes of others if `auth.confirm_admin_changes` is set and the session
    is older than ten minutes.
    """

    email: Email | UnsetType = UNSET
    password: Password | UnsetType = UNSET
    role: Role | UnsetType = UNSET
    domain_ids: DomainIds | UnsetType = UNSET
    active: Active | UnsetType = UNSET
    must_change_password: MustChange | UnsetType = UNSET
    current_password: OwnPassword | UnsetType = UNSET


class AdminInvite(Body, frozen=True):
    """`invite_to`: where to mail the link. `current_password` is needed if `auth.confirm_admin_changes` is set and the
    session is older than ten minutes.
    """

    invite_to: InviteTo | UnsetType = UNSET
    current_password: OwnPassword | UnsetType = UNSET


class AdminDelete(Body, frozen=True):
    """`current_password` is needed to delete others if `auth.confirm_admin_changes` is set and the session is older
    than ten minutes.
    """

    current_password: OwnPassword | UnsetType = UNSET


class AdminDeletion(Struct, frozen=True):
    """An administrator was deleted."""

    message: str
    id: UUID


def to_record(admin: Admin, domain_ids: Sequence[UUID]) -> AdminRecord:
    """The response for an administrator, with those of its domains that the caller may see."""
    return AdminRecord(
        id=admin.id,
        email=admin.email,
        role=admin.role,
        active=admin.active,
        must_change_password=admin.must_change_password,
        totp_enabled=admin.totp_enabled,
        passkeys=admin.passkeys,
        oidc_provider=admin.oidc_provider,
        last_login_at=iso_or_none(admin.last_login_at),
        domain_ids=list(domain_ids),
        created_at=iso(admin.created_at),
        updated_at=iso(admin.updated_at),
    )


def to_created(record: AdminRecord, invitation: Invitation | UnsetType | None) -> AdminCreated:
    """The response for a new administrator; `invitation` UNSET: not invited, None: the link was shown before."""
    shown = invitations.to_record(invitation) if isinstance(invitation, Invitation) else invitation
    return AdminCreated(**structs.asdict(record), invitation=shown)


def audit_fields(admin: Admin) -> dict[str, Any]:
    """The audit log's fields of an account."""
    return {
        "email": admin.email,
        "role": admin.role.value,
        "active": admin.active,
        "must_change_password": admin.must_change_password,
        "domain_ids": [str(domain_id) for domain_id in admin.domain_ids],
    }
