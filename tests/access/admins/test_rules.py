from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from mailkeep.core.errors import ApiKeyDomainScope, Conflict, Forbidden, InvalidField
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.features.access.admins import rules
from mailkeep.features.access.admins.model import Admin, AdminChanges

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
EXAMPLE, OTHER = UUID(int=1), UUID(int=2)
SUE, ADAM, DORA, DAN = (UUID(int=number) for number in (10, 11, 12, 13))


def account(admin_id: UUID, role: Role, *domain_ids: UUID) -> Admin:
    return Admin(admin_id, "a@example.test", role, False, None, None, NOW, NOW, domain_ids)


ACCOUNTS = {
    "sue": account(SUE, Role.SUPER_ADMIN),
    "adam": account(ADAM, Role.ADMIN),
    "dora": account(DORA, Role.DOMAIN_ADMIN, EXAMPLE),
    "dan": account(DAN, Role.DOMAIN_ADMIN, EXAMPLE, OTHER),
    "nina": account(UUID(int=14), Role.DOMAIN_ADMIN),
}


def caller(name: str, scope: frozenset[UUID] | None = None) -> Principal:
    found = ACCOUNTS[name]
    key_id = None if scope is None else UUID(int=99)
    assigned = frozenset(found.domain_ids)
    return Principal(found.id, name, found.role, ActorType.SESSION, assigned, scope, key_id=key_id)


@pytest.mark.parametrize(
    "who, seen",
    [
        (caller("sue"), {"sue", "adam", "dora", "dan", "nina"}),
        (caller("adam"), {"sue", "adam", "dora", "dan", "nina"}),
        (caller("dora"), {"dora", "dan"}),
        (caller("dan"), {"dora", "dan"}),
        (caller("nina"), {"nina"}),
        (caller("sue", frozenset({EXAMPLE})), {"sue"}),
        (caller("adam", frozenset()), {"adam"}),
        (caller("dan", frozenset({EXAMPLE})), {"dan"}),
    ],
)
def test_visibility_of_accounts(who: Principal, seen: set[str]):
    assert {name for name, admin in ACCOUNTS.items() if rules.can_see(who, admin)} == seen


@pytest.mark.parametrize(
    "who, name, refusal",
    [
        (caller("nina"), "sue", Forbidden),
        (caller("dora"), "adam", Forbidden),
        (caller("dora", frozenset({EXAMPLE})), "sue", Forbidden),
        (caller("dora", frozenset({EXAMPLE})), "dan", ApiKeyDomainScope),
        (caller("sue", frozenset({EXAMPLE})), "dora", ApiKeyDomainScope),
    ],
)
def test_the_role_is_checked_before_the_scope(who: Principal, name: str, refusal: type[Exception]):
    with pytest.raises(refusal):
        rules.refuse_invisible(who, ACCOUNTS[name])


def test_domains_the_caller_may_not_see_are_not_shown():
    assert rules.visible_domains(caller("sue"), ACCOUNTS["dan"]) == [EXAMPLE, OTHER]
    assert rules.visible_domains(caller("dora"), ACCOUNTS["dan"]) == [EXAMPLE]
    assert rules.visible_domains(caller("dan"), ACCOUNTS["dan"]) == [EXAMPLE, OTHER]
    assert rules.visible_domains(caller("dan", frozenset({OTHER})), ACCOUNTS["dan"]) == [OTHER]


def test_the_last_active_super_admin_is_kept():
    sue, adam = ACCOUNTS["sue"], ACCOUNTS["adam"]
    with pytest.raises(Conflict) as refused:
        rules.refuse_last_super_admin(sue, 0, stays=False)
    assert refused.value.details == {"reason": "last_super_admin"}
    rules.refuse_last_super_admin(sue, 1, stays=False)
    rules.refuse_last_super_admin(sue, 0, stays=True)
    rules.refuse_last_super_admin(adam, 0, stays=False)
    rules.refuse_last_super_admin(replace(sue, active=False), 0, stays=False)


@pytest.mark.parametrize(
    "changes, stays",
    [
        (AdminChanges(password_hash="any"), True),
        (AdminChanges(role=Role.SUPER_ADMIN, active=True), True),
        (AdminChanges(role=Role.ADMIN), False),
        (AdminChanges(active=False), False),
    ],
)
def test_a_super_admin_stays_one_unless_demoted_or_disabled(changes: AdminChanges, stays: bool):
    assert rules.stays_super_admin(ACCOUNTS["sue"], changes) is stays


@pytest.mark.parametrize(
    "changes, differs",
    [
        (AdminChanges(), False),
        (AdminChanges(email=rules.parse_email("a@example.test")), False),
        (AdminChanges(email=rules.parse_email("A@example.test")), True),
        (AdminChanges(password_hash="any"), True),
        (AdminChanges(role=Role.DOMAIN_ADMIN), False),
        (AdminChanges(role=Role.ADMIN), True),
        (AdminChanges(domain_ids=(OTHER, EXAMPLE)), False),
        (AdminChanges(domain_ids=()), True),
        (AdminChanges(active=True, must_change_password=False), False),
        (AdminChanges(active=False), True),
        (AdminChanges(must_change_password=True), True),
    ],
)
def test_has_changes_compares_each_field(changes: AdminChanges, differs: bool):
    assert rules.has_changes(ACCOUNTS["dan"], changes) is differs


@pytest.mark.parametrize(
    "text", ["", "sue", "sue@", "@example.test", "sue@ex ample.test", "a@b@c.test", "Sue <s@x.test>"]
)
def test_a_malformed_email_is_an_invalid_field(text: str):
    with pytest.raises(InvalidField):
        rules.parse_email(text)


def test_admin_at_localhost_is_an_email():
    assert rules.parse_email("admin@localhost").text == "admin@localhost"
