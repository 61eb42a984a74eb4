"""The tests of traps and threats can fail: with one defence taken away, the trap's own test does, in its own words.

A row names the threat (as the design counts them: traps by number, threats with a T), takes its defence away, and
runs the test that holds it. `test_policy_mutations` does the same for the matrix of permissions.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import idna
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR

from mailkeep.core.address import normalize_domain
from mailkeep.core.secret import Vault
from mailkeep.features.access.passkeys import store as passkey_store
from mailkeep.features.access.second_factors import store as factor_store
from mailkeep.features.access.sessions import service as sessions
from mailkeep.features.directory.aliases import rules as alias_rules
from mailkeep.features.record.audit import store as audit_store
from mailkeep.mail.message import headers
from mailkeep.mail.smtp import data as smtp_data
from mailkeep.net import guard
from mailkeep.web import idempotency, listing, pipeline
from mailkeep.web.memory_budget import MemoryBudget, MemoryReservation
from tests import test_traps
from tests.access.logins import test_second_factor
from tests.access.passkeys import test_login as passkeys
from tests.directory.aliases import test_chains_and_loops as loops
from tests.mail.message import test_headers
from tests.mail.smtp import test_data, test_smtp_client
from tests.mailflow.sending import test_idempotency
from tests.net import test_guard
from tests.plugins.post import Post
from tests.record.audit import test_transactions
from tests.support.client import Api
from tests.web import test_budget, test_listing, test_origin
from tests.web.pipeline_setup import PipelineSetup

Break = Callable[[pytest.MonkeyPatch], None]


def nothing(*_: Any, **__: Any) -> None:
    """In place of a check."""


async def nothing_later(*_: Any, **__: Any) -> None:
    """In place of a check that is waited for."""


async def always(*_: Any, **__: Any) -> bool:
    """In place of a compare and set."""
    return True


def no_bare_newline_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smtp_data, "has_bare_newline", lambda content: False)


def a_header_name_only_begins_with_x(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `startswith("X-")`, which CPython's own composer relies on its users for."""
    monkeypatch.setattr(headers, "_HEADER_NAME", re.compile(r"[Xx]-.*", re.DOTALL))


def no_address_is_special(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "_special_v4", nothing)


def an_ipv6_address_is_only_that(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `ipaddress.is_global`, which is True for NAT64's form of 127.0.0.1."""
    monkeypatch.setattr(guard, "_embedded_ipv4", lambda ip: iter(()))
    monkeypatch.setattr(guard, "_special_v6", lambda ip: None if ip.is_global else "not global")


def cursors_bound_to_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "_cursor_scope", lambda call, page: b"")


def seals_that_nobody_verifies(monkeypatch: pytest.MonkeyPatch) -> None:
    """AES-GCM without its tag is a stream cipher: it opens whatever is shown (NIST SP 800-38D §7.2)."""

    def opened(self: Vault, purpose: str, sealed: bytes, bound_to: bytes = b"") -> bytes:
        counter = sealed[:12] + (2).to_bytes(4, "big")
        return Cipher(AES(self._key(purpose)), CTR(counter)).decryptor().update(sealed[12:-16])

    monkeypatch.setattr(Vault, "open", opened)


def bodies_without_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MemoryReservation, "reserve", nothing_later)


def calls_of_any_site(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "refuse_cross_site", nothing)


@dataclass(frozen=True)
class Pure:
    """Without a database: the test is run before the defence is gone, too."""

    threat: str
    breaks: Break
    proof: Callable[..., Any]
    message: str
    given: Callable[[], tuple[Any, ...]] = field(default=tuple)


def tight_house() -> tuple[PipelineSetup]:
    setup = PipelineSetup(message_size_mb=2, body_budget_mb=4)
    setup.pipeline._budget = MemoryBudget(4 << 20, wait_seconds=0.2)
    return (setup,)


PURE = (
    Pure(
        "T6",
        no_bare_newline_is_seen,
        test_data.test_a_bare_cr_or_lf_is_a_fault_however_it_is_cut,
        "BARE_NEWLINE",
        lambda: (b"a\r\n.\nb",),
    ),
    Pure(
        "T7",
        no_bare_newline_is_seen,
        test_smtp_client.test_content_that_breaks_off_or_has_bare_newlines_is_not_sent,
        "DID NOT RAISE",
    ),
    Pure(
        "1",
        a_header_name_only_begins_with_x,
        test_headers.test_a_custom_header_may_not_be_named,
        "DID NOT RAISE",
        lambda: ("X-A\r\nBcc",),
    ),
    Pure("T22", no_address_is_special, test_guard.test_a_hostile_host_is_refused, "127.0.0.1", lambda: ("127.0.0.1",)),
    Pure(
        "13",
        an_ipv6_address_is_only_that,
        test_guard.test_a_hostile_host_is_refused,
        "64:ff9b",
        lambda: ("[64:ff9b::7f00:1]",),
    ),
    Pure(
        "T18",
        cursors_bound_to_nothing,
        test_listing.test_a_cursor_belongs_to_its_caller,
        "INVALID_PAGINATION",
        lambda: (PipelineSetup(),),
    ),
    Pure(
        "T18, altered",
        seals_that_nobody_verifies,
        test_listing.test_a_cursor_that_was_altered_is_refused,
        "INVALID_PAGINATION",
        lambda: (PipelineSetup(),),
    ),
    Pure(
        "T25",
        bodies_without_a_budget,
        test_budget.test_bodies_over_the_budget_wait_and_then_get_retry_after,
        "retry-after",
        tight_house,
    ),
    Pure(
        "T13",
        calls_of_any_site,
        test_origin.test_an_unsafe_call_from_another_site_is_refused,
        "403",
        lambda: ({"sec-fetch-site": "cross-site"},),
    ),
)


async def run(proof: Callable[..., Any], *given: Any) -> None:
    done = proof(*given)
    if isinstance(done, Awaitable):
        await done


async def fails(message: str, proof: Callable[..., Any], *given: Any) -> None:
    """The test fails at what it looks for in an answer, and says this."""
    with pytest.raises((AssertionError, LookupError, TypeError, pytest.fail.Exception)) as found:
        await run(proof, *given)
    assert message in str(found.value)


@pytest.mark.parametrize("row", PURE, ids=lambda row: f"{row.threat}: {row.breaks.__name__}")
async def test_without_its_defence_the_trap_is_sprung(row: Pure, monkeypatch: pytest.MonkeyPatch):
    await run(row.proof, *row.given())
    row.breaks(monkeypatch)
    await fails(row.message, row.proof, *row.given())


# Those that need a database, each with one of its own


async def test_trap_4_domains_by_pythons_own_codec(post: Post, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(idna, "alabel", lambda label: label.encode("idna"))
    normalize_domain.cache_clear()
    try:
        await fails("DOMAIN_EXISTS", test_traps.test_a_domain_with_sharp_s_is_another_than_one_with_two, post)
    finally:
        normalize_domain.cache_clear()


async def test_t3_a_loop_that_nobody_looks_for(api: Api, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(alias_rules, "refuse_loop", nothing)
    two = [(f"a@{loops.HERE}", [f"b@{loops.THERE}"]), (f"b@{loops.THERE}", [f"a@{loops.HERE}"])]
    await fails("NoneType", loops.test_a_loop_is_refused_at_its_last_link, api, two)


async def test_t12_a_session_that_outlives_the_next_login(api: Api, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sessions, "_end_previous", nothing_later)
    await fails("SESSION_INVALID", passkeys.test_a_login_replaces_the_session_of_the_cookie, api)


async def test_t14_a_code_that_is_taken_twice(api: Api, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(factor_store, "use_step", always)
    await fails("TOTP_INVALID", test_second_factor.test_of_two_concurrent_logins_with_one_code_one_succeeds, api)


async def test_a_challenge_of_a_passkey_that_is_answered_twice(api: Api, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(passkey_store, "use_challenge", always)
    await fails("SESSION_INVALID", passkeys.TestChallenges().test_each_challenge_takes_one_response_right_or_wrong, api)


async def test_a_copied_key_whose_counter_nobody_compares(api: Api, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(passkey_store, "record_use", always)
    await fails("INVALID_CREDENTIALS", passkeys.TestCounters().test_counters_must_increase, api, 7, 6, False)


async def test_promise_2_an_idempotency_key_that_takes_any_body(post: Post, monkeypatch: pytest.MonkeyPatch):
    async def of_nothing(body: Any) -> bytes:
        return bytes(32)

    monkeypatch.setattr(idempotency, "_digest", of_nothing)
    await fails("IDEMPOTENCY_MISMATCH", test_idempotency.test_whose_key_it_is, post)


async def test_t35_an_entry_that_is_committed_by_itself(api: Api, monkeypatch: pytest.MonkeyPatch):
    insert = audit_store.insert

    async def apart(conn: Any, entry: Any) -> None:
        async with api.app.db.autocommit() as other:
            await insert(other, entry)

    monkeypatch.setattr(audit_store, "insert", apart)
    await fails("domain.create", test_transactions.test_a_rolled_back_change_has_no_entry, api, monkeypatch)
