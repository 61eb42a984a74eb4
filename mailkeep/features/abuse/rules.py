"""Who may set and lift a suspension."""

from __future__ import annotations

from mailkeep.core.errors import Forbidden
from mailkeep.core.principal import Principal, Role
from mailkeep.features.abuse.model import Suspension


def takes_over(who: Principal, present: Suspension | None) -> bool:
    """Whether a suspension by `who` replaces the present one: no rank weakens what stands above it."""
    return present is None or who.role.rank >= _rank(present)


def refuse_lifting(who: Principal, present: Suspension) -> None:
    """FORBIDDEN where a suspension by the rules or a higher rank would be lifted by less than an admin."""
    if who.role.rank < min(_rank(present), Role.ADMIN.rank):
        raise Forbidden("A suspension by the abuse rules or a higher rank is lifted by an admin.")


def _rank(present: Suspension) -> int:
    return Role.ADMIN.rank if present.by_rank is None else present.by_rank
