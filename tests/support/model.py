"""The API's results of changes, as a model in pure Python: who may do what, the new state, and the audit log.

Written from the specifications, without SQL and without the product's rules. Routing is the model of
`tests/directory/routing`. Each use case either raises `ModelRefusal` or changes the model.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tests.directory.routing.test_route_address import Alias, Domain, Mailbox, World, chained_with, key_of, loops

RANKS = {"domain_admin": 0, "admin": 1, "super_admin": 2}
STATUSES = {
    "SESSION_INVALID": 401,
    "API_KEY_INVALID": 401,
    "FORBIDDEN": 403,
    "API_KEY_DOMAIN_SCOPE": 403,
    "DOMAIN_INACTIVE": 403,
    "NOT_FOUND": 404,
    "DOMAIN_NOT_FOUND": 404,
    "CONFLICT": 409,
    "DOMAIN_EXISTS": 409,
}


class ModelRefusal(Exception):
    """A refusal, as the caller gets it."""

    def __init__(self, code: str, why: str | None = None, status: int | None = None) -> None:
        super().__init__(code, why)
        self.code, self.why, self.status = code, why, status or STATUSES[code]


@dataclass(eq=False)
class DomainState:
    """A domain."""

    name: str
    id: str = ""
    active: bool = True
    sending: bool = True
    receiving: bool = True
    delimiter: str | None = "+"
    max_mailboxes: int | None = None
    max_aliases: int | None = None
    alias_of: DomainState | None = None


@dataclass(eq=False)
class MailboxState:
    """A mailbox, possibly in the trash."""

    place: DomainState
    local: str
    forwards: list[str] = field(default_factory=list[str])
    keep_copy: bool = True
    active: bool = True
    trashed: bool = False
    id: str = ""

    @property
    def address(self) -> str:
        return f"{self.local}@{self.place.name}"


@dataclass(eq=False)
class AliasState:
    """An alias."""

    place: DomainState
    local: str
    to: list[str]
    active: bool = True
    id: str = ""

    @property
    def address(self) -> str:
        return f"{self.local}@{self.place.name}"


@dataclass(eq=False)
class Account:
    """An administrator."""

    email: str
    role: str
    assigned: set[DomainState] = field(default_factory=set[DomainState])
    id: str = ""


@dataclass(eq=False)
class Caller:
    """A session, or a key (`scope` None: all of its owner's access)."""

    owner: Account
    is_key: bool = False
    scope: set[DomainState] | None = None
    parent: Caller | None = None
    id: str = ""
    client: Any = None


@dataclass
class Model:
    """The state; `audit` are (action, outcome) of the last use case."""

    places: list[DomainState]
    accounts: list[Account]
    callers: list[Caller]
    boxes: list[MailboxState] = field(default_factory=list[MailboxState])
    sources: list[AliasState] = field(default_factory=list[AliasState])
    sent: int = 0

    # What there is

    def world(self) -> World:
        """The part of the state that routing uses."""
        return World(
            {
                place.name: Domain(
                    place.active, place.receiving, place.delimiter, place.alias_of.name if place.alias_of else None
                )
                for place in self.places
            },
            {
                box.address: Mailbox(box.active, list(box.forwards), box.keep_copy)
                for box in self.boxes
                if not box.trashed
            },
            {source.address: Alias(list(source.to), source.active) for source in self.sources},
        )

    def box_at(self, address: str) -> MailboxState | None:
        return next((b for b in self.boxes if not b.trashed and key_of(b.address) == key_of(address)), None)

    def boxes_in(self, place: DomainState) -> list[MailboxState]:
        return [box for box in self.boxes if box.place is place and not box.trashed]

    def sources_in(self, place: DomainState) -> list[AliasState]:
        return [source for source in self.sources if source.place is place]

    def aliases_of(self, place: DomainState) -> list[DomainState]:
        return [other for other in self.places if other.alias_of is place]

    # Who may

    def authorize(self, who: Caller, rank: str, *, everywhere: bool = False) -> None:
        """Checks without an object: the credential, the role's rank, and with `everywhere` the key's scope."""
        if who not in self.callers:
            raise ModelRefusal("API_KEY_INVALID" if who.is_key else "SESSION_INVALID")
        if RANKS[who.owner.role] < RANKS[rank]:
            raise ModelRefusal("FORBIDDEN")
        if everywhere and who.scope is not None:
            raise ModelRefusal("API_KEY_DOMAIN_SCOPE")

    def require_domain(self, who: Caller, place: DomainState) -> None:
        if who.owner.role == "domain_admin" and place not in who.owner.assigned:
            raise ModelRefusal("FORBIDDEN")
        if who.scope is not None and place not in who.scope:
            raise ModelRefusal("API_KEY_DOMAIN_SCOPE")

    def require_active_domain(self, who: Caller, place: DomainState) -> None:
        """Something is created or changed in a domain."""
        if place not in self.places:
            raise ModelRefusal("DOMAIN_NOT_FOUND")
        self.require_domain(who, place)
        if not place.active:
            raise ModelRefusal("DOMAIN_INACTIVE")
        if place.alias_of:
            raise ModelRefusal("CONFLICT", "alias_domain")

    def refuse_lower_rank(self, who: Caller, address: str) -> None:
        """An address, with or without a tag, belongs to the administrator whose email it is."""
        local, _, domain = key_of(address).rpartition("@")
        place = next((place for place in self.places if place.name == domain), None)
        target = (place and place.alias_of) or place
        delimiter = target.delimiter if target else None
        same = {domain} | ({target.name, *(each.name for each in self.aliases_of(target))} if target else set())

        def owns(account: Account) -> bool:
            own, _, at = key_of(account.email).rpartition("@")
            return at in same and (own == local or own == base(local, delimiter) or base(own, delimiter) == local)

        if any(RANKS[each.role] > RANKS[who.owner.role] for each in self.accounts if owns(each)):
            raise ModelRefusal("FORBIDDEN")

    # Domains

    def create_domain(self, who: Caller, place: DomainState) -> None:
        self.authorize(who, "admin", everywhere=True)
        if any(place.name == other.name for other in self.places):
            raise ModelRefusal("DOMAIN_EXISTS")
        self.places.append(place)

    def change_domain(self, who: Caller, place: DomainState, wanted: dict[str, Any]) -> bool:
        """Returns whether anything changed, as all changes do."""
        self.authorize(who, "admin")
        if place not in self.places:
            raise ModelRefusal("NOT_FOUND")
        self.require_domain(who, place)
        if "alias_of" in wanted and wanted["alias_of"] is not place.alias_of:
            self._check_target(who, place, wanted["alias_of"])
        return apply_changes(place, wanted)

    def _check_target(self, who: Caller, place: DomainState, target: DomainState | None) -> None:
        if target and self.aliases_of(place):
            raise ModelRefusal("CONFLICT", "alias_chain")
        if target and (self.boxes_in(place) or self.sources_in(place)):
            raise ModelRefusal("CONFLICT", "has_dependents")
        ranks = [RANKS[each.role] for each in self.accounts if key_of(each.email).endswith(f"@{place.name}")]
        if max(ranks, default=0) > RANKS[who.owner.role]:
            raise ModelRefusal("FORBIDDEN", "higher_rank")
        if target is None:
            return
        if target not in self.places:
            raise ModelRefusal("DOMAIN_NOT_FOUND")
        self.require_domain(who, target)
        if target is place or target.alias_of:
            raise ModelRefusal("CONFLICT", "alias_chain")
        before, place.alias_of = place.alias_of, target
        world = self.world()
        nodes = [("mailbox", box.address) for box in self.boxes if not box.trashed]
        nodes += [("alias", source.address) for source in self.sources if source.active]
        for kind, address in nodes:
            local, _, domain = key_of(address).rpartition("@")
            onward = [key_of(to).rpartition("@")[2] for to in world.onward((kind, local, domain))]
            if place.name in onward and loops(world, (kind, local, domain)):
                place.alias_of = before
                raise ModelRefusal("CONFLICT", "alias_loop")
        place.alias_of = before

    def delete_domain(self, who: Caller, place: DomainState) -> None:
        self.authorize(who, "admin")
        if place not in self.places:
            raise ModelRefusal("NOT_FOUND")
        self.require_domain(who, place)
        if self.boxes_in(place) or self.sources_in(place) or self.aliases_of(place):
            raise ModelRefusal("CONFLICT", "has_dependents")
        self.places.remove(place)
        self.boxes = [box for box in self.boxes if box.place is not place]
        for account in self.accounts:
            account.assigned.discard(place)
        for caller in self.callers:
            if caller.scope is not None:
                caller.scope.discard(place)

    # Mailboxes

    def create_mailbox(self, who: Caller, box: MailboxState) -> None:
        self.authorize(who, "domain_admin")
        self.require_active_domain(who, box.place)
        self.refuse_lower_rank(who, box.address)
        self._make_room(box)
        self.boxes.append(box)
        self._refuse_circle(box, lambda: self.boxes.remove(box))

    def change_mailbox(self, who: Caller, box: MailboxState, wanted: dict[str, Any]) -> bool:
        self._find_box(who, box, trashed=False)
        self.refuse_lower_rank(who, box.address)
        before = {name: getattr(box, name) for name in wanted}
        if not apply_changes(box, wanted):
            return False
        self._refuse_circle(box, lambda: apply_changes(box, before))
        return True

    def delete_mailbox(self, who: Caller, box: MailboxState, *, purge: bool) -> None:
        self._find_box(who, box, trashed=purge)
        self.refuse_lower_rank(who, box.address)
        if purge:
            self.boxes.remove(box)
        else:
            box.trashed = True

    def restore_mailbox(self, who: Caller, box: MailboxState) -> None:
        self._find_box(who, box, trashed=True)
        self.require_active_domain(who, box.place)
        self.refuse_lower_rank(who, box.address)
        if not box.trashed:
            raise ModelRefusal("CONFLICT", "not_trashed")
        self._make_room(box)
        box.trashed = False
        self._refuse_circle(box, lambda: apply_changes(box, {"trashed": True}))

    def _find_box(self, who: Caller, box: MailboxState, *, trashed: bool) -> None:
        self.authorize(who, "domain_admin")
        if box not in self.boxes or (box.trashed and not trashed):
            raise ModelRefusal("NOT_FOUND")
        self.require_domain(who, box.place)

    def _make_room(self, box: MailboxState) -> None:
        limit = box.place.max_mailboxes
        if limit is not None and len(self.boxes_in(box.place)) >= limit:
            raise ModelRefusal("CONFLICT", "limit_reached")
        if self.box_at(box.address):
            raise ModelRefusal("CONFLICT", "address_taken")

    def _refuse_circle(self, box: MailboxState, undo: Any) -> None:
        local, _, domain = key_of(box.address).rpartition("@")
        if not box.trashed and loops(self.world(), ("mailbox", local, domain)):
            undo()
            raise ModelRefusal("CONFLICT", "alias_loop")

    # Aliases

    def create_alias(self, who: Caller, source: AliasState) -> None:
        self.authorize(who, "domain_admin")
        self.require_active_domain(who, source.place)
        if source.local:
            self.refuse_lower_rank(who, source.address)
        present = self.sources_in(source.place)
        if source.place.max_aliases is not None and len(present) >= source.place.max_aliases:
            raise ModelRefusal("CONFLICT", "limit_reached")
        if any(key_of(source.address) == key_of(other.address) for other in present):
            raise ModelRefusal("CONFLICT", "source_taken")
        self.sources.append(source)
        self._refuse_circling(source, True, lambda: self.sources.remove(source))

    def change_alias(self, who: Caller, source: AliasState, wanted: dict[str, Any]) -> bool:
        self._find_source(who, source)
        self.require_active_domain(who, source.place)
        if source.local:
            self.refuse_lower_rank(who, source.address)
        before = {name: getattr(source, name) for name in wanted}
        was_active = source.active
        if not apply_changes(source, wanted):
            return False
        self._refuse_circling(source, not was_active, lambda: apply_changes(source, before))
        return True

    def delete_alias(self, who: Caller, source: AliasState) -> None:
        self._find_source(who, source)
        if source.local:
            self.refuse_lower_rank(who, source.address)
        self.sources.remove(source)

    def _find_source(self, who: Caller, source: AliasState) -> None:
        self.authorize(who, "domain_admin")
        if source not in self.sources:
            raise ModelRefusal("NOT_FOUND")
        self.require_domain(who, source.place)

    def _refuse_circling(self, source: AliasState, begins: bool, undo: Any) -> None:
        if not source.active:
            return
        world = self.world()
        local, _, domain = key_of(source.address).rpartition("@")
        ahead, behind = chained_with(world, ("alias", local, domain))
        why = "alias_loop" if loops(world, ("alias", local, domain)) else None
        why = why or ("alias_chain" if ahead or (begins and behind) else None)
        if why:
            undo()
            raise ModelRefusal("CONFLICT", why)

    # Administrators and keys

    def create_admin(self, who: Caller, account: Account) -> None:
        self.authorize(who, "super_admin", everywhere=True)
        self._know(account.assigned)
        if any(key_of(account.email) == key_of(other.email) for other in self.accounts):
            raise ModelRefusal("CONFLICT", "email_taken")
        self.accounts.append(account)

    def assign(self, who: Caller, account: Account, places: set[DomainState]) -> bool:
        self.authorize(who, "super_admin", everywhere=True)
        if account not in self.accounts:
            raise ModelRefusal("NOT_FOUND")
        self._know(places)
        return apply_changes(account, {"assigned": set(places)})

    def delete_admin(self, who: Caller, account: Account) -> None:
        self.authorize(who, "super_admin", everywhere=True)
        if account not in self.accounts:
            raise ModelRefusal("NOT_FOUND")
        others = [a for a in self.accounts if a.role == "super_admin" and a is not account]
        if account.role == "super_admin" and not others:
            raise ModelRefusal("CONFLICT", "last_super_admin")
        self.accounts.remove(account)
        self.callers = [caller for caller in self.callers if caller.owner is not account]

    def create_key(self, who: Caller, key: Caller) -> None:
        self.authorize(who, "domain_admin", everywhere=True)
        scope = key.scope or set[DomainState]()
        self._know(scope)
        for place in scope:
            self.require_domain(who, place)
        self.callers.append(key)

    def revoke_key(self, who: Caller, key: Caller) -> None:
        self.authorize(who, "domain_admin", everywhere=True)
        if key not in self.callers:
            raise ModelRefusal("NOT_FOUND")
        if who.owner.role != "super_admin" and who.owner is not key.owner:
            raise ModelRefusal("FORBIDDEN")
        gone = {id(key)}
        while more := {id(c) for c in self.callers if c.parent and id(c.parent) in gone} - gone:
            gone |= more
        self.callers = [caller for caller in self.callers if id(caller) not in gone]

    def _know(self, places: Iterable[DomainState]) -> None:
        if any(place not in self.places for place in places):
            raise ModelRefusal("DOMAIN_NOT_FOUND")

    # Sending

    def send(self, who: Caller, place: DomainState) -> None:
        self.authorize(who, "domain_admin")
        if place not in self.places:
            raise ModelRefusal("DOMAIN_NOT_FOUND", status=403)
        if not place.active or (place.alias_of and not place.alias_of.active):
            raise ModelRefusal("DOMAIN_INACTIVE")
        if not place.sending:
            raise ModelRefusal("DOMAIN_INACTIVE", "sending_disabled")
        self.require_domain(who, place)
        self.refuse_lower_rank(who, f"a@{place.name}")
        self.sent += 1


def apply_changes(thing: Any, wanted: dict[str, Any]) -> bool:
    """Set attributes; returns whether any value changed."""
    different = any(getattr(thing, name) != value for name, value in wanted.items())
    for name, value in wanted.items():
        setattr(thing, name, value)
    return different


def base(local: str, delimiter: str | None) -> str | None:
    """The local part before its tag; None without one."""
    name, found, _ = local.partition(delimiter) if delimiter else (local, "", "")
    return name if found and name and not name.endswith(".") else None
