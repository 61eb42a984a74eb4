"""Decide about sign-ins; list and remove blocks."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from uuid import UUID

import structlog

from mailkeep.core.clock import iso
from mailkeep.core.errors import NotFound
from mailkeep.core.ids import uuid7
from mailkeep.core.network import source_of
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import Principal
from mailkeep.core.secret import Vault
from mailkeep.db.pool import Conn
from mailkeep.features.access.accounts.model import AccountKind
from mailkeep.features.access.sign_in_protection import rules, store
from mailkeep.features.access.sign_in_protection.model import (
    Attempt,
    FailureKey,
    SignInBlock,
    SignInDecision,
    SignInFailures,
)
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget

log = structlog.get_logger("mailkeep.sign_ins")

_SEEN_INTERVAL = timedelta(days=1)  # a sign-in from a source seen within this time is not written again


def new_attempt(vault: Vault, kind: AccountKind, name: str, ip_address: str, password: str) -> Attempt:
    """An attempt to sign in as `name`; `password` may be any text that is the same for the same password."""
    account = rules.account_of(kind, name, vault)
    return Attempt(account, source_of(ip_address), rules.tag_of(account, password, vault))


def new_key_attempt(vault: Vault, ip_address: str, password: str) -> Attempt:
    """An attempt to open a submission session with an API key. There is no account: failures count per source only."""
    source = source_of(ip_address)
    account = f"apikey:{source}"
    return Attempt(account, source, rules.tag_of(account, password, vault))


async def begin(conn: Conn, attempt: Attempt, at: datetime) -> SignInDecision:
    """Decide whether a password may be verified, and count the attempt as a failure until `succeed`.

    Call it in a transaction of its own: other attempts wait until it ends.
    """
    history = await store.lock_history(conn, attempt, at)
    decision = rules.decide(attempt, history, at)
    if decision.counted:
        failure_id = uuid7(at)
        await store.insert_failure(conn, failure_id, attempt, at, known_source=history.known_source)
        for block in decision.blocks:
            await store.upsert_block(conn, uuid7(at), block, failure_id, at)
            log.warning(
                "sign-ins are refused after many failures",
                refused=rules.describe(block),
                failures=block.failures,
                until=iso(block.until),
            )
    return decision


def retry_after(until: datetime, at: datetime) -> int:
    """The seconds from `at` to the end of a refusal, at least one."""
    return max(1, math.ceil((until - at).total_seconds()))


async def succeed(conn: Conn, attempt: Attempt) -> None:
    """Uncount an attempt whose password was right."""
    await store.delete_failure(conn, attempt)


async def record_mailbox_source(conn: Conn, mailbox_id: UUID, source: str, at: datetime) -> None:
    """Record a sign-in to a mailbox: failures elsewhere do not block the source. Ignores deleted mailboxes."""
    await store.record_mailbox_source(conn, mailbox_id, source, at, at - _SEEN_INTERVAL)


async def list_failures(
    conn: Conn, at: datetime, by: FailureKey, domain_ids: list[UUID] | None, limit: int
) -> list[SignInFailures]:
    """The sources, or the accounts, with the most failures in the hour before `at`. With `domain_ids`, only failures to
    mailboxes of these domains count, and blocks of sources are left out: they have other causes too.
    """
    return await store.count_failures(conn, at, at - rules.RETENTION, by, domain_ids, limit)


async def page(conn: Conn, at: datetime, page_request: PageRequest) -> Page[SignInBlock]:
    """A page of the blocks in effect."""
    return await store.page(conn, at, page_request)


async def remove(conn: Conn, who: Principal, at: datetime, block_id: UUID) -> SignInBlock:
    """Remove a block and forget the failures behind it. NOT_FOUND, also if it has ended."""
    block = await store.delete_block(conn, block_id, at)
    if block is None:
        raise NotFound("There is no such block; it may have ended.")
    before = {
        "address": block.source,
        "account": block.account and rules.address_of(block.account),
        "failures": block.failures,
        "until": iso(block.until),
    }
    action = AuditAction("sign_in_block.remove", AuditTarget("sign_in_block", block.id), before=before)
    await audit.record(conn, who, at, action)
    return block


async def prune(conn: Conn, at: datetime) -> None:
    """Delete what no longer has an effect."""
    await store.prune(conn, at, at - rules.RETENTION, at - rules.SOURCE_RETENTION)
