"""The caller of a request (principal) and the authorization policy.

Rights are computed on every request from the current state of the owner. A domain administrator without
assignments has no access, and neither has a key whose scoped domains no longer exist.

- `allow(who, action)` checks role and scope, before the fields of the body are read.
- `allow_on(who, action, domain_id)` also checks access to the object's domain.
- `allow_on_mailbox(who, action, mailbox_id, domain_id)` is the same for what belongs to a mailbox.
- `who.domains()` returns the domains for which lists return objects. None means all.

The owner of a mailbox is a caller without a role. It may do what the policy permits to owners, with its own mailbox
only.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
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


class ActorType(StrEnum):
    """How a principal is authenticated (the audit log's `actor.type`)."""

    SESSION = "session"
    API_KEY = "api_key"
    SYSTEM = "system"
    CLI = "cli"
    MAILBOX = "mailbox"  # a session of the mailbox's owner


class BlockReason(StrEnum):
    """Why a call is refused regardless of the caller's rights (`details.reason`)."""

    NETWORK = "network"  # the call comes from outside the allowed networks
    PASSWORD = "password_change_required"  # the account must change its password first
    SECOND_FACTOR = "second_factor_required"  # the role requires one, and the account has none yet


class KeyPermissions(StrEnum):
    """What an API key may do of what its owner may do."""

    FULL = "full"
    SENDING = "sending"  # send, and see and change its own messages
    READ = "read"  # every GET, but no inbound mail


class ActionScope(StrEnum):
    """What an action applies to; decides whether a key that is scoped to domains may call it."""

    DOMAIN = "domain"  # an object of a domain: `allow_on` checks the domain too
    LISTING = "listing"  # a list: filtered, never refused
    GLOBAL = "global"  # not part of a domain: refused to scoped keys
    ACCOUNT = "account"  # the caller's own account: may be read with a key
    CREDENTIALS = "credentials"  # changes the caller's account or sessions: session only
    OWN_MAILBOX = "own_mailbox"  # the caller's own mailbox: only for owners of mailboxes


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """The lowest role that is allowed (None: only owners of mailboxes), and what the action applies to.

    `without_second_factor`: also allowed while the account lacks a second factor that its role requires;
    `before_password_change`: also while it must change its password. `owners`: also allowed for owners of mailboxes.
    `keys`: which narrowed API keys it is allowed for.
    """

    role: Role | None
    scope: ActionScope
    without_second_factor: bool = False
    before_password_change: bool = False
    owners: bool = False
    keys: frozenset[KeyPermissions] = frozenset()


_READ = frozenset({KeyPermissions.READ})
_SENDING = frozenset({KeyPermissions.SENDING})
_OWNER = PolicyRule(None, ActionScope.OWN_MAILBOX, owners=True)
_DOMAIN, _ADMIN, _SUPER = Role.DOMAIN_ADMIN, Role.ADMIN, Role.SUPER_ADMIN

POLICY: dict[str, PolicyRule] = {
    "account.read": PolicyRule(
        _DOMAIN, ActionScope.ACCOUNT, without_second_factor=True, before_password_change=True, keys=_READ | _SENDING
    ),
    "account.password": PolicyRule(_DOMAIN, ActionScope.CREDENTIALS, before_password_change=True),
    "account.change": PolicyRule(_DOMAIN, ActionScope.CREDENTIALS),
    "session.list": PolicyRule(_DOMAIN, ActionScope.ACCOUNT, keys=_READ),
    "session.leave": PolicyRule(
        _DOMAIN, ActionScope.CREDENTIALS, without_second_factor=True, before_password_change=True
    ),
    "factor.enrol": PolicyRule(_DOMAIN, ActionScope.CREDENTIALS, without_second_factor=True),
    "factor.change": PolicyRule(_DOMAIN, ActionScope.CREDENTIALS),
    "passkey.list": PolicyRule(_DOMAIN, ActionScope.ACCOUNT, without_second_factor=True, keys=_READ),
    "admin.list": PolicyRule(_DOMAIN, ActionScope.LISTING, keys=_READ),
    "admin.write": PolicyRule(_SUPER, ActionScope.GLOBAL),
    "api_key.list": PolicyRule(_DOMAIN, ActionScope.LISTING, keys=_READ),
    "api_key.write": PolicyRule(_DOMAIN, ActionScope.GLOBAL),
    "audit.list": PolicyRule(_DOMAIN, ActionScope.LISTING, keys=_READ),
    "audit.verify": PolicyRule(_SUPER, ActionScope.GLOBAL, keys=_READ),
    "audit.export": PolicyRule(_SUPER, ActionScope.GLOBAL, keys=_READ),
    "domain.list": PolicyRule(_DOMAIN, ActionScope.LISTING, keys=_READ),
    "domain.read": PolicyRule(_DOMAIN, ActionScope.DOMAIN, keys=_READ),
    "domain.create": PolicyRule(_ADMIN, ActionScope.GLOBAL),
    "domain.write": PolicyRule(_ADMIN, ActionScope.DOMAIN),
    "dkim.read": PolicyRule(_DOMAIN, ActionScope.DOMAIN, keys=_READ),
    "dns.read": PolicyRule(_DOMAIN, ActionScope.DOMAIN, keys=_READ),
    "dns.check": PolicyRule(_DOMAIN, ActionScope.DOMAIN),
    "dns_server.read": PolicyRule(_SUPER, ActionScope.GLOBAL, keys=_READ),
    "dns_server.check": PolicyRule(_SUPER, ActionScope.GLOBAL),
    "dkim.write": PolicyRule(_ADMIN, ActionScope.DOMAIN),
    "report.read": PolicyRule(_DOMAIN, ActionScope.DOMAIN, keys=_READ),
    "report.upload": PolicyRule(_ADMIN, ActionScope.DOMAIN),
    "mailbox.list": PolicyRule(_DOMAIN, ActionScope.LISTING, keys=_READ),
    "mailbox.read": PolicyRule(_DOMAIN, ActionScope.DOMAIN, keys=_READ),
    "mailbox.write": PolicyRule(_DOMAIN, ActionScope.DOMAIN),
    "mailbox.bulk": PolicyRule(_DOMAIN, ActionScope.LISTING),  # each item is judged as a single call
    "sieve.read": PolicyRule(_ADMIN, ActionScope.DOMAIN, keys=_READ),
    "sieve.write": PolicyRule(_ADMIN, ActionScope.DOMAIN),
    "sieve.check": PolicyRule(_DOMAIN, ActionScope.LISTING, owners=True),  # of a script that belongs to nobody
    "alias.list": PolicyRule(_DOMAIN, ActionScope.LISTING, keys=_READ),
    "alias.read": PolicyRule(_DOMAIN, ActionScope.DOMAIN, keys=_READ),
    "alias.write": PolicyRule(_DOMAIN, ActionScope.DOMAIN),
    "alias.bulk": PolicyRule(_DOMAIN, ActionScope.LISTING),
    "operation.read": PolicyRule(_DOMAIN, ActionScope.LISTING, keys=_READ),  # its creator, and super_admins
    "routing.explain": PolicyRule(_DOMAIN, ActionScope.DOMAIN, keys=_READ),
    "message.list": PolicyRule(_DOMAIN, ActionScope.LISTING, keys=_READ | _SENDING),
    "message.totals": PolicyRule(_DOMAIN, ActionScope.LISTING, keys=_READ),
    "analytics.read": PolicyRule(_DOMAIN, ActionScope.LISTING, keys=_READ),
    "message.read": PolicyRule(_DOMAIN, ActionScope.DOMAIN, keys=_READ | _SENDING),
    "message.details": PolicyRule(_DOMAIN, ActionScope.DOMAIN, keys=_READ),  # timeline and content
    "message.resend": PolicyRule(_DOMAIN, ActionScope.DOMAIN),
    "message.retry": PolicyRule(_DOMAIN, ActionScope.DOMAIN),
    "message.schedule": PolicyRule(_DOMAIN, ActionScope.DOMAIN, keys=_SENDING),  # change or cancel what is scheduled
    "message.raw_inbound": PolicyRule(_ADMIN, ActionScope.DOMAIN),
    "filter_server.read": PolicyRule(_SUPER, ActionScope.GLOBAL, keys=_READ),
    "filter_server.write": PolicyRule(_SUPER, ActionScope.GLOBAL),
    "filter.read": PolicyRule(_DOMAIN, ActionScope.DOMAIN, keys=_READ),  # settings and lists of a domain or mailbox
    "filter.write": PolicyRule(_DOMAIN, ActionScope.DOMAIN),
    "suppression.list": PolicyRule(_DOMAIN, ActionScope.LISTING, keys=_READ),
    "suppression.read": PolicyRule(_DOMAIN, ActionScope.DOMAIN, keys=_READ),
    "suppression.write": PolicyRule(_DOMAIN, ActionScope.DOMAIN),
    "suppression.import": PolicyRule(_DOMAIN, ActionScope.LISTING),  # each row is judged by its domain
    "unsubscribe_group.list": PolicyRule(_DOMAIN, ActionScope.LISTING, keys=_READ),
    "unsubscribe_group.read": PolicyRule(_DOMAIN, ActionScope.DOMAIN, keys=_READ),
    "unsubscribe_group.write": PolicyRule(_DOMAIN, ActionScope.DOMAIN),
    "threshold.list": PolicyRule(_DOMAIN, ActionScope.LISTING, keys=_READ),
    "threshold.write": PolicyRule(_DOMAIN, ActionScope.DOMAIN),
    "abuse.read": PolicyRule(_DOMAIN, ActionScope.LISTING, keys=_READ),  # the overview
    "suspension.list": PolicyRule(_ADMIN, ActionScope.LISTING, keys=_READ),
    "suspension.read": PolicyRule(_ADMIN, ActionScope.DOMAIN, keys=_READ),
    "suspension.lift": PolicyRule(_ADMIN, ActionScope.DOMAIN),
    "incident.list": PolicyRule(_DOMAIN, ActionScope.LISTING, keys=_READ),
    "incident.read": PolicyRule(_DOMAIN, ActionScope.DOMAIN, keys=_READ),
    "incident.write": PolicyRule(_DOMAIN, ActionScope.DOMAIN),
    "alert.list": PolicyRule(_DOMAIN, ActionScope.LISTING, keys=_READ),  # about abuse; of the health: `health.…`
    "alert.read": PolicyRule(_DOMAIN, ActionScope.DOMAIN, keys=_READ),
    "alert.write": PolicyRule(_DOMAIN, ActionScope.DOMAIN),
    "sign_in_block.list": PolicyRule(_ADMIN, ActionScope.GLOBAL, keys=_READ),
    "sign_in_block.remove": PolicyRule(_ADMIN, ActionScope.GLOBAL),
    "queue.list": PolicyRule(_ADMIN, ActionScope.GLOBAL, keys=_READ),
    "health.read": PolicyRule(_SUPER, ActionScope.GLOBAL, keys=_READ),
    "health.write": PolicyRule(_SUPER, ActionScope.GLOBAL),
    "queue.write": PolicyRule(_ADMIN, ActionScope.GLOBAL),
    "event.list": PolicyRule(_ADMIN, ActionScope.LISTING, keys=_READ),
    "event.read": PolicyRule(_ADMIN, ActionScope.DOMAIN, keys=_READ),
    "webhook.list": PolicyRule(_ADMIN, ActionScope.LISTING, keys=_READ),
    "webhook.read": PolicyRule(_ADMIN, ActionScope.DOMAIN, keys=_READ),
    "webhook.write": PolicyRule(_ADMIN, ActionScope.DOMAIN),
    "template.list": PolicyRule(_DOMAIN, ActionScope.LISTING, keys=_READ),
    "template.read": PolicyRule(_DOMAIN, ActionScope.DOMAIN, keys=_READ),
    "template.render": PolicyRule(_DOMAIN, ActionScope.DOMAIN),
    "template.write": PolicyRule(_ADMIN, ActionScope.DOMAIN),
    "send": PolicyRule(_DOMAIN, ActionScope.DOMAIN, keys=_SENDING),
    "backup.read": PolicyRule(_SUPER, ActionScope.GLOBAL, keys=_READ),
    "backup.write": PolicyRule(_SUPER, ActionScope.GLOBAL),
    "certificate.read": PolicyRule(_SUPER, ActionScope.GLOBAL, keys=_READ),
    "certificate.write": PolicyRule(_SUPER, ActionScope.GLOBAL),
    "config.read": PolicyRule(_SUPER, ActionScope.GLOBAL, keys=_READ),
    "config.write": PolicyRule(_SUPER, ActionScope.GLOBAL),
    "orchestrator.read": PolicyRule(_SUPER, ActionScope.GLOBAL, keys=_READ),
    "orchestrator.write": PolicyRule(_SUPER, ActionScope.GLOBAL),
    "sandbox.read": PolicyRule(_SUPER, ActionScope.GLOBAL, keys=_READ),
    "sandbox": PolicyRule(_SUPER, ActionScope.GLOBAL),
    "me.read": _OWNER,
    "me.write": _OWNER,  # forward, vacation, Sieve scripts, filtering
    "me.credentials": _OWNER,  # password, second factors, app passwords, sessions
    "me.leave": _OWNER,
}


@dataclass(frozen=True, slots=True)
class OwnMailbox:
    """The mailbox of a caller who is its owner."""

    id: UUID
    domain_id: UUID
    domain_name: str


@dataclass(frozen=True, slots=True)
class Principal:
    """The caller of a request, as stored when the request arrived.

    `assigned`: the domains of a domain_admin (unused for higher roles). `scope`: the domains of a scoped key, None
    for a session or an unscoped key; an empty scope allows nothing. `blocked_by`: why all calls are refused. `mailbox`:
    that of its owner, who has no `role`.
    """

    admin_id: UUID | None
    label: str  # email of the admin, address of the owner's mailbox, or name of the key, command or process
    role: Role | None
    actor: ActorType
    assigned: frozenset[UUID] = frozenset()
    scope: frozenset[UUID] | None = None
    blocked_by: BlockReason | None = None
    session_id: UUID | None = None
    signed_in_at: datetime | None = None  # when the session was opened
    key_id: UUID | None = None
    ip_address: str | None = None
    user_agent: str | None = None
    request_id: UUID | None = None
    mailbox: OwnMailbox | None = None
    permissions: KeyPermissions = KeyPermissions.FULL  # of the API key

    @property
    def own_messages_of(self) -> UUID | None:
        """The API key whose messages are the only ones that this caller may see; None: no such limit."""
        return self.key_id if self.permissions is KeyPermissions.SENDING else None

    @property
    def id(self) -> UUID | None:
        """The API key, account or mailbox of the caller; None for commands and processes."""
        return self.key_id or self.admin_id or (self.mailbox.id if self.mailbox else None)

    @property
    def account(self) -> tuple[str, UUID | None]:
        """The type and ID, as in the audit log, of the administrator or mailbox whose rights the caller has."""
        return ("mailbox", self.mailbox.id) if self.mailbox else ("admin", self.admin_id)

    @property
    def rank(self) -> int:
        """The rank of the role; -1 for the owner of a mailbox."""
        return -1 if self.role is None else self.role.rank

    @property
    def has_all_domains(self) -> bool:
        """Whether the role has access to all domains; a key's scope may limit it."""
        return self.rank >= Role.ADMIN.rank

    def domains(self) -> list[UUID] | None:
        """The domains whose objects this caller may see, or None for all. None of them for the owner of a mailbox."""
        if self.role is None:
            return []
        own = self.assigned if self.role is Role.DOMAIN_ADMIN else None
        if own is None:
            return None if self.scope is None else sorted(self.scope)
        return sorted(own if self.scope is None else own & self.scope)


def allow(who: Principal, action: str) -> None:
    """Refuse if the caller's role or kind of credential does not allow `action` on any object."""
    rule = POLICY[action]
    if who.blocked_by is BlockReason.NETWORK:
        raise Forbidden(
            "Calls from this network are not allowed (auth.allowed_networks, or allowed_networks of the API key).",
            reason=who.blocked_by.value,
        )
    if who.blocked_by is BlockReason.PASSWORD and not rule.before_password_change:
        raise Forbidden("Change your password first (POST /auth/password).", reason=who.blocked_by.value)
    if who.blocked_by is BlockReason.SECOND_FACTOR and not rule.without_second_factor:
        raise Forbidden("Your role requires a second factor: set one up first.", reason=who.blocked_by.value)
    if not rule.owners if who.role is None else rule.role is None or who.rank < rule.role.rank:
        raise Forbidden
    if who.key_id is None:
        return
    if who.permissions is not KeyPermissions.FULL and who.permissions not in rule.keys:
        raise Forbidden(
            f"An API key with `permissions` {who.permissions.value} can't do this.", reason="key_permissions"
        )
    if rule.scope is ActionScope.CREDENTIALS:
        raise Forbidden("This call requires a session; API keys cannot make it.")
    if rule.scope is ActionScope.GLOBAL and who.scope is not None:
        raise ApiKeyDomainScope("API keys that are limited to domains cannot make this call.")


def allow_on(who: Principal, action: str, domain_id: UUID) -> None:
    """Refuse `action` on an object of `domain_id`: FORBIDDEN by role, API_KEY_DOMAIN_SCOPE by scope alone."""
    allow(who, action)
    if who.role is None or (who.role is Role.DOMAIN_ADMIN and domain_id not in who.assigned):
        raise Forbidden
    if who.scope is not None and domain_id not in who.scope:
        raise ApiKeyDomainScope


def allow_on_mailbox(who: Principal, action: str, mailbox_id: UUID, domain_id: UUID) -> None:
    """Refuse `action` on what belongs to a mailbox of `domain_id`. Its owner may do what administrators may, as far as
    routes offer it; others as `allow_on` says.
    """
    if who.mailbox is None:
        allow_on(who, action, domain_id)
    elif who.mailbox.id != mailbox_id:
        raise Forbidden
