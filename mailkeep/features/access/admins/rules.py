"""Which accounts a caller may see, and which changes are refused."""

from __future__ import annotations

from uuid import UUID

from mailkeep.core.address import Address, AddressError, parse_address
from mailkeep.core.errors import ApiKeyDomainScope, Conflict, Forbidden, MissingFields, invalid_field
from mailkeep.core.principal import Principal, Role
from mailkeep.features.access.admins.model import Admin, AdminChanges


def parse_email(text: str) -> Address:
    """The email of an account (`admin@localhost` is valid), or INVALID_FIELD."""
    try:
        return parse_address(text)
    except AddressError as error:
        raise invalid_field("email", error.reason) from None


def can_see(who: Principal, admin: Admin) -> bool:
    """Whether the account is in the caller's list."""
    return admin.id == who.admin_id or (who.scope is None and _can_see_by_role(who, admin))


def refuse_invisible(who: Principal, admin: Admin) -> None:
    """FORBIDDEN if the caller's role may not see the account, API_KEY_DOMAIN_SCOPE if only its key's scope does."""
    if not can_see(who, admin):
        raise ApiKeyDomainScope if _can_see_by_role(who, admin) else Forbidden


def _can_see_by_role(who: Principal, admin: Admin) -> bool:
    return who.has_all_domains or not who.assigned.isdisjoint(admin.domain_ids)


def visible_domains(who: Principal, admin: Admin) -> list[UUID]:
    """Those of the account's domains that the caller may see."""
    visible = who.domains()
    return [domain_id for domain_id in admin.domain_ids if visible is None or domain_id in visible]


def refuse_own_change(who: Principal, *, has_password: bool) -> None:
    """Refuse a change of the caller's own email or password: FORBIDDEN with an API key, MISSING_FIELDS unless the
    request `has_password`, the current one.
    """
    if who.key_id is not None:
        raise Forbidden("Your own email and password can't be changed with an API key: sign in and use the session.")
    if not has_password:
        raise MissingFields(["current_password"])


def refuse_own_password_rule(who: Principal, admin_id: UUID) -> None:
    """FORBIDDEN if the account is the caller's own: `must_change_password` and invitations are for others."""
    if who.admin_id == admin_id:
        raise Forbidden("This is your own account: change its password with POST /auth/password.")


def refuse_last_super_admin(admin: Admin, others: int, *, stays: bool) -> None:
    """CONFLICT `last_super_admin` if the account is the only active super_admin (`others`: number of the other ones)
    and not `stays` one: it would be deleted, demoted or disabled.
    """
    if admin.active and admin.role is Role.SUPER_ADMIN and not stays and others == 0:
        raise Conflict(
            "The last active super_admin can't be deleted, demoted or disabled: create another one first.",
            reason="last_super_admin",
        )


def stays_super_admin(admin: Admin, changes: AdminChanges) -> bool:
    """Whether a super_admin is an active one after the changes."""
    return changes.role in (None, Role.SUPER_ADMIN) and (admin.active if changes.active is None else changes.active)


def has_changes(admin: Admin, changes: AdminChanges) -> bool:
    """Whether the change would change anything; a new password always does."""
    return (
        changes.password_hash is not None
        or (changes.email is not None and changes.email.text != admin.email)
        or changes.role not in (None, admin.role)
        or (changes.domain_ids is not None and set(changes.domain_ids) != set(admin.domain_ids))
        or changes.active not in (None, admin.active)
        or changes.must_change_password not in (None, admin.must_change_password)
    )


def has_all_domains(admin: Admin) -> bool:
    """Whether the account has access to all domains."""
    return admin.role is not Role.DOMAIN_ADMIN


def notable_changes(before: Admin, after: Admin, changes: AdminChanges) -> list[str]:
    """Which of role, email, password and `active` (as disabled or enabled) were changed of an account that had or has
    access to all domains.
    """
    if not (has_all_domains(before) or has_all_domains(after)):
        return []
    notable = {
        "role": before.role is not after.role,
        "email": before.email != after.email,
        "password": changes.password_hash is not None,
        "disabled": before.active and not after.active,
        "enabled": after.active and not before.active,
    }
    return [name for name, is_changed in notable.items() if is_changed]
