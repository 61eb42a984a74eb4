"""Who calls, and the one policy: may this principal do this action, here?

Rights are computed on every request from the owner as it is now, and only ever narrow: a domain
administrator without assignments, and a key whose scoped domains are all gone, may touch nothing.

Three questions, one function each:

- `allow(who, action)`: does the role, or the key's scope as such, bar the action altogether? Asked before the
  fields of the body are read.
- `allow_on(who, action, domain_id)`: may it on an object of this domain?
- `who.domains()`: which domains may a list show? None is all.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from mailkeep.core.errors import ApiKeyDomainScope, Forbidden


class Role(StrEnum):
    """Roles of administrators, lowest first."""

    DOMAIN_ADMIN = "domain_admin"
    ADMIN = "admin"
    SUPER_ADMIN = "super_admin"

    @property
    def rank(self) -> int:
        """0 for domain_admin, 1 for admin, 2 for super_admin."""
        return _RANKS[self]


_RANKS = {Role.DOMAIN_ADMIN: 0, Role.ADMIN: 1, Role.SUPER_ADMIN: 2}


class Actor(StrEnum):
    """By what means a principal acts (the audit's `actor.type`)."""

    SESSION = "session"
    API_KEY = "api_key"
    SYSTEM = "system"
    CLI = "cli"


class Bar(StrEnum):
    """Why a call is refused whatever the caller's rights (`details.reason`)."""

    NETWORK = "network"  # it comes from outside the allowed networks
    SECOND_FACTOR = "second_factor_required"  # the role needs one, and the account has none yet


class Reach(StrEnum):
    """What an action touches, seen by a key that is scoped to domains."""

    DOMAIN = "domain"  # an object that belongs to a domain: checked again with the domain
    LISTING = "listing"  # a list that is filtered, never refused
    GLOBAL = "global"  # belongs to no domain: a scoped key may not
    ACCOUNT = "account"  # the caller's own account: readable with a key
    CREDENTIALS = "credentials"  # changes the caller's own account or sessions: only with a session


@dataclass(frozen=True, slots=True)
class Rule:
    """The lowest role that may, and what is touched.

    `unenrolled`: also while the installation asks for a second factor that the account doesn't have yet.
    """

    role: Role
    reach: Reach
    unenrolled: bool = False


_DOMAIN, _ADMIN, _SUPER = Role.DOMAIN_ADMIN, Role.ADMIN, Role.SUPER_ADMIN

POLICY: dict[str, Rule] = {
    "account.read": Rule(_DOMAIN, Reach.ACCOUNT, unenrolled=True),
    "account.change": Rule(_DOMAIN, Reach.CREDENTIALS),
    "session.list": Rule(_DOMAIN, Reach.ACCOUNT),
    "session.leave": Rule(_DOMAIN, Reach.CREDENTIALS, unenrolled=True),
    "factor.enrol": Rule(_DOMAIN, Reach.CREDENTIALS, unenrolled=True),
    "factor.change": Rule(_DOMAIN, Reach.CREDENTIALS),
    "passkey.list": Rule(_DOMAIN, Reach.ACCOUNT, unenrolled=True),
    "admin.list": Rule(_DOMAIN, Reach.LISTING),
    "admin.write": Rule(_SUPER, Reach.GLOBAL),
    "api_key.list": Rule(_DOMAIN, Reach.LISTING),
    "api_key.write": Rule(_DOMAIN, Reach.GLOBAL),
    "audit.list": Rule(_DOMAIN, Reach.LISTING),
    "audit.verify": Rule(_SUPER, Reach.GLOBAL),
    "audit.export": Rule(_SUPER, Reach.GLOBAL),
    "domain.list": Rule(_DOMAIN, Reach.LISTING),
    "domain.read": Rule(_DOMAIN, Reach.DOMAIN),
    "domain.create": Rule(_ADMIN, Reach.GLOBAL),
    "domain.write": Rule(_ADMIN, Reach.DOMAIN),
    "dkim.read": Rule(_DOMAIN, Reach.DOMAIN),
    "mailbox.list": Rule(_DOMAIN, Reach.LISTING),
    "mailbox.read": Rule(_DOMAIN, Reach.DOMAIN),
    "mailbox.write": Rule(_DOMAIN, Reach.DOMAIN),
    "alias.list": Rule(_DOMAIN, Reach.LISTING),
    "alias.read": Rule(_DOMAIN, Reach.DOMAIN),
    "alias.write": Rule(_DOMAIN, Reach.DOMAIN),
    "routing.explain": Rule(_DOMAIN, Reach.DOMAIN),
    "message.list": Rule(_DOMAIN, Reach.LISTING),
    "message.read": Rule(_DOMAIN, Reach.DOMAIN),
    "message.raw_inbound": Rule(_ADMIN, Reach.DOMAIN),
    "suspension.list": Rule(_ADMIN, Reach.LISTING),
    "suspension.read": Rule(_ADMIN, Reach.DOMAIN),
    "suspension.lift": Rule(_ADMIN, Reach.DOMAIN),
    "queue.list": Rule(_ADMIN, Reach.GLOBAL),
    "health.read": Rule(_SUPER, Reach.GLOBAL),
    "queue.write": Rule(_ADMIN, Reach.GLOBAL),
    "event.list": Rule(_ADMIN, Reach.LISTING),
    "event.read": Rule(_ADMIN, Reach.DOMAIN),
    "webhook.list": Rule(_ADMIN, Reach.LISTING),
    "webhook.read": Rule(_ADMIN, Reach.DOMAIN),
    "webhook.write": Rule(_ADMIN, Reach.DOMAIN),
    "send": Rule(_DOMAIN, Reach.DOMAIN),
    "sandbox": Rule(_SUPER, Reach.GLOBAL),
}


@dataclass(frozen=True, slots=True)
class Principal:
    """The caller of one request, as the database knew it when the request came.

    `assigned` are the domains of a domain_admin (unused for higher roles); `scope` are those of a scoped key,
    None for a session or an unscoped key. An empty `scope` reaches nothing. `bar` is what the installation's own
    policy has against the call, whatever its rights.
    """

    admin_id: UUID | None
    label: str  # email of the admin, or the name of a key, command or process
    role: Role
    actor: Actor
    assigned: frozenset[UUID] = frozenset()
    scope: frozenset[UUID] | None = None
    bar: Bar | None = None
    session_id: UUID | None = None
    key_id: UUID | None = None
    ip_address: str | None = None
    user_agent: str | None = None
    request_id: UUID | None = None

    def domains(self) -> list[UUID] | None:
        """The domains whose objects this caller may see, or None for all."""
        own = self.assigned if self.role is Role.DOMAIN_ADMIN else None
        if own is None:
            return None if self.scope is None else sorted(self.scope)
        return sorted(own if self.scope is None else own & self.scope)


def allow(who: Principal, action: str) -> None:
    """Refuse where the role or the kind of credential bars `action` altogether, whatever its object."""
    rule = POLICY[action]
    if who.bar is Bar.NETWORK:
        raise Forbidden("Calls are not allowed from this network.", reason=who.bar.value)
    if who.bar is Bar.SECOND_FACTOR and not rule.unenrolled:
        raise Forbidden("Your role needs a second factor: enrol one first.", reason=who.bar.value)
    if who.role.rank < rule.role.rank:
        raise Forbidden
    if who.key_id is None:
        return
    if rule.reach is Reach.CREDENTIALS:
        raise Forbidden("This call needs a session, not an API key.")
    if rule.reach is Reach.GLOBAL and who.scope is not None:
        raise ApiKeyDomainScope


def allow_on(who: Principal, action: str, domain_id: UUID) -> None:
    """Refuse `action` on an object of `domain_id`: FORBIDDEN by role, API_KEY_DOMAIN_SCOPE by scope alone."""
    allow(who, action)
    if who.role is Role.DOMAIN_ADMIN and domain_id not in who.assigned:
        raise Forbidden
    if who.scope is not None and domain_id not in who.scope:
        raise ApiKeyDomainScope
