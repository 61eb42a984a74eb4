"""What the API answers to changes, in pure Python: who may do what, what it becomes, and what the audit log keeps.

Written from the specifications, without SQL and without the product's rules. Where mail goes is the model of
`tests/directory/routing`. Each use case either raises `No` or changes the model.
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


class No(Exception):
    """A refusal as the caller sees it."""

    def __init__(self, code: str, why: str | None = None, status: int | None = None) -> None:
        super().__init__(code, why)
        self.code, self.why, self.status = code, why, status or STATUSES[code]


@dataclass(eq=False)
class Place:
    """A domain."""

    name: str
    id: str = ""
    active: bool = True
    sending: bool = True
    receiving: bool = True
    delimiter: str | None = "+"
    max_mailboxes: int | None = None
    max_aliases: int | None = None


@dataclass(eq=False)
class Box:
    """A mailbox, also one in the trash."""

    place: Place
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
class Source:
    """An alias."""

    place: Place
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
    assigned: set[Place] = field(default_factory=set[Place])
    id: str = ""


@dataclass(eq=False)
class Caller:
    """A session, or a key (`scope` None: of everything that its owner has)."""

    owner: Account
    is_key: bool = False
    scope: set[Place] | None = None
    parent: Caller | None = None
    id: str = ""
    client: Any = None


@dataclass
class Model:
    """Everything there is; `audit` are (action, outcome) of the last use case."""

    places: list[Place]
    accounts: list[Account]
    callers: list[Caller]
    boxes: list[Box] = field(default_factory=list[Box])
    sources: list[Source] = field(default_factory=list[Source])
    sent: int = 0

    # What there is

    def world(self) -> World:
        """What routing knows."""
        return World(
            {place.name: Domain(place.active, place.receiving, place.delimiter) for place in self.places},
            {
                box.address: Mailbox(box.active, list(box.forwards), box.keep_copy)
                for box in self.boxes
                if not box.trashed
            },
            {source.address: Alias(list(source.to), source.active) for source in self.sources},
        )

    def box_at(self, address: str) -> Box | None:
        return next((b for b in self.boxes if not b.trashed and key_of(b.address) == key_of(address)), None)

    def boxes_in(self, place: Place) -> list[Box]:
        return [box for box in self.boxes if box.place is place and not box.trashed]

    def sources_in(self, place: Place) -> list[Source]:
        return [source for source in self.sources if source.place is place]

    # Who may

    def enter(self, who: Caller, rank: str, *, everywhere: bool = False) -> None:
        """Whatever its object: is the credential one, does its role do, and (`everywhere`) its scope."""
        if who not in self.callers:
            raise No("API_KEY_INVALID" if who.is_key else "SESSION_INVALID")
        if RANKS[who.owner.role] < RANKS[rank]:
            raise No("FORBIDDEN")
        if everywhere and who.scope is not None:
            raise No("API_KEY_DOMAIN_SCOPE")

    def reach(self, who: Caller, place: Place) -> None:
        if who.owner.role == "domain_admin" and place not in who.owner.assigned:
            raise No("FORBIDDEN")
        if who.scope is not None and place not in who.scope:
            raise No("API_KEY_DOMAIN_SCOPE")

    def work_in(self, who: Caller, place: Place) -> None:
        """Something is to be made or changed in a domain."""
        if place not in self.places:
            raise No("DOMAIN_NOT_FOUND")
        self.reach(who, place)
        if not place.active:
            raise No("DOMAIN_INACTIVE")

    def respect(self, who: Caller, address: str) -> None:
        """An address, with or without a tag, belongs to the administrator whose email it is."""
        local, _, domain = key_of(address).rpartition("@")
        delimiter = next((place.delimiter for place in self.places if place.name == domain), None)

        def owns(account: Account) -> bool:
            own, _, at = key_of(account.email).rpartition("@")
            return at == domain and (own == local or own == base(local, delimiter) or base(own, delimiter) == local)

        if any(RANKS[each.role] > RANKS[who.owner.role] for each in self.accounts if owns(each)):
            raise No("FORBIDDEN")

    # Domains

    def create_domain(self, who: Caller, place: Place) -> None:
        self.enter(who, "admin", everywhere=True)
        if any(place.name == other.name for other in self.places):
            raise No("DOMAIN_EXISTS")
        self.places.append(place)

    def change_domain(self, who: Caller, place: Place, wanted: dict[str, Any]) -> bool:
        """Like every change: whether it changes anything."""
        self.enter(who, "admin")
        if place not in self.places:
            raise No("NOT_FOUND")
        self.reach(who, place)
        return changed(place, wanted)

    def delete_domain(self, who: Caller, place: Place) -> None:
        self.enter(who, "admin")
        if place not in self.places:
            raise No("NOT_FOUND")
        self.reach(who, place)
        if self.boxes_in(place) or self.sources_in(place):
            raise No("CONFLICT", "has_dependents")
        self.places.remove(place)
        self.boxes = [box for box in self.boxes if box.place is not place]
        for account in self.accounts:
            account.assigned.discard(place)
        for caller in self.callers:
            if caller.scope is not None:
                caller.scope.discard(place)

    # Mailboxes

    def create_mailbox(self, who: Caller, box: Box) -> None:
        self.enter(who, "domain_admin")
        self.work_in(who, box.place)
        self.respect(who, box.address)
        self._make_room(box)
        self.boxes.append(box)
        self._refuse_circle(box, lambda: self.boxes.remove(box))

    def change_mailbox(self, who: Caller, box: Box, wanted: dict[str, Any]) -> bool:
        self._find_box(who, box, trashed=False)
        self.respect(who, box.address)
        before = {name: getattr(box, name) for name in wanted}
        if not changed(box, wanted):
            return False
        self._refuse_circle(box, lambda: changed(box, before))
        return True

    def delete_mailbox(self, who: Caller, box: Box, *, purge: bool) -> None:
        self._find_box(who, box, trashed=purge)
        self.respect(who, box.address)
        if purge:
            self.boxes.remove(box)
        else:
            box.trashed = True

    def restore_mailbox(self, who: Caller, box: Box) -> None:
        self._find_box(who, box, trashed=True)
        self.work_in(who, box.place)
        self.respect(who, box.address)
        if not box.trashed:
            raise No("CONFLICT", "not_trashed")
        self._make_room(box)
        box.trashed = False
        self._refuse_circle(box, lambda: changed(box, {"trashed": True}))

    def _find_box(self, who: Caller, box: Box, *, trashed: bool) -> None:
        self.enter(who, "domain_admin")
        if box not in self.boxes or (box.trashed and not trashed):
            raise No("NOT_FOUND")
        self.reach(who, box.place)

    def _make_room(self, box: Box) -> None:
        limit = box.place.max_mailboxes
        if limit is not None and len(self.boxes_in(box.place)) >= limit:
            raise No("CONFLICT", "limit_reached")
        if self.box_at(box.address):
            raise No("CONFLICT", "address_taken")

    def _refuse_circle(self, box: Box, undo: Any) -> None:
        local, _, domain = key_of(box.address).rpartition("@")
        if not box.trashed and loops(self.world(), ("mailbox", local, domain)):
            undo()
            raise No("CONFLICT", "alias_loop")

    # Aliases

    def create_alias(self, who: Caller, source: Source) -> None:
        self.enter(who, "domain_admin")
        self.work_in(who, source.place)
        if source.local:
            self.respect(who, source.address)
        present = self.sources_in(source.place)
        if source.place.max_aliases is not None and len(present) >= source.place.max_aliases:
            raise No("CONFLICT", "limit_reached")
        if any(key_of(source.address) == key_of(other.address) for other in present):
            raise No("CONFLICT", "source_taken")
        self.sources.append(source)
        self._refuse_circling(source, True, lambda: self.sources.remove(source))

    def change_alias(self, who: Caller, source: Source, wanted: dict[str, Any]) -> bool:
        self._find_source(who, source)
        self.work_in(who, source.place)
        if source.local:
            self.respect(who, source.address)
        before = {name: getattr(source, name) for name in wanted}
        was_active = source.active
        if not changed(source, wanted):
            return False
        self._refuse_circling(source, not was_active, lambda: changed(source, before))
        return True

    def delete_alias(self, who: Caller, source: Source) -> None:
        self._find_source(who, source)
        if source.local:
            self.respect(who, source.address)
        self.sources.remove(source)

    def _find_source(self, who: Caller, source: Source) -> None:
        self.enter(who, "domain_admin")
        if source not in self.sources:
            raise No("NOT_FOUND")
        self.reach(who, source.place)

    def _refuse_circling(self, source: Source, begins: bool, undo: Any) -> None:
        if not source.active:
            return
        world = self.world()
        local, _, domain = key_of(source.address).rpartition("@")
        ahead, behind = chained_with(world, ("alias", local, domain))
        why = "alias_loop" if loops(world, ("alias", local, domain)) else None
        why = why or ("alias_chain" if ahead or (begins and behind) else None)
        if why:
            undo()
            raise No("CONFLICT", why)

    # Administrators and keys

    def create_admin(self, who: Caller, account: Account) -> None:
        self.enter(who, "super_admin", everywhere=True)
        self._know(account.assigned)
        if any(key_of(account.email) == key_of(other.email) for other in self.accounts):
            raise No("CONFLICT", "email_taken")
        self.accounts.append(account)

    def assign(self, who: Caller, account: Account, places: set[Place]) -> bool:
        self.enter(who, "super_admin", everywhere=True)
        if account not in self.accounts:
            raise No("NOT_FOUND")
        self._know(places)
        return changed(account, {"assigned": set(places)})

    def delete_admin(self, who: Caller, account: Account) -> None:
        self.enter(who, "super_admin", everywhere=True)
        if account not in self.accounts:
            raise No("NOT_FOUND")
        others = [a for a in self.accounts if a.role == "super_admin" and a is not account]
        if account.role == "super_admin" and not others:
            raise No("CONFLICT", "last_super_admin")
        self.accounts.remove(account)
        self.callers = [caller for caller in self.callers if caller.owner is not account]

    def create_key(self, who: Caller, key: Caller) -> None:
        self.enter(who, "domain_admin", everywhere=True)
        scope = key.scope or set[Place]()
        self._know(scope)
        for place in scope:
            self.reach(who, place)
        self.callers.append(key)

    def revoke_key(self, who: Caller, key: Caller) -> None:
        self.enter(who, "domain_admin", everywhere=True)
        if key not in self.callers:
            raise No("NOT_FOUND")
        if who.owner.role != "super_admin" and who.owner is not key.owner:
            raise No("FORBIDDEN")
        gone = {id(key)}
        while more := {id(c) for c in self.callers if c.parent and id(c.parent) in gone} - gone:
            gone |= more
        self.callers = [caller for caller in self.callers if id(caller) not in gone]

    def _know(self, places: Iterable[Place]) -> None:
        if any(place not in self.places for place in places):
            raise No("DOMAIN_NOT_FOUND")

    # Sending

    def send(self, who: Caller, place: Place) -> None:
        self.enter(who, "domain_admin")
        if place not in self.places:
            raise No("DOMAIN_NOT_FOUND", status=403)
        if not place.active:
            raise No("DOMAIN_INACTIVE")
        if not place.sending:
            raise No("DOMAIN_INACTIVE", "sending_disabled")
        self.reach(who, place)
        self.respect(who, f"a@{place.name}")
        self.sent += 1


def changed(thing: Any, wanted: dict[str, Any]) -> bool:
    """Sets attributes; whether that made a difference."""
    different = any(getattr(thing, name) != value for name, value in wanted.items())
    for name, value in wanted.items():
        setattr(thing, name, value)
    return different


def base(local: str, delimiter: str | None) -> str | None:
    """The local part before its tag; None where it has none."""
    name, found, _ = local.partition(delimiter) if delimiter else (local, "", "")
    return name if found and name and not name.endswith(".") else None
