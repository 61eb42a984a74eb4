"""The result of a check of a domain's policy."""

from __future__ import annotations

from typing import Literal, NamedTuple


class PolicyCheck(NamedTuple):
    """`found` is the text of the policy that was fetched; `problem` and `advice` are empty if there is none."""

    status: Literal["ok", "missing", "mismatch", "dns_error", "not_checked"]
    found: tuple[str, ...] = ()
    problem: str = ""
    advice: str = ""
