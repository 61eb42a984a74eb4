"""Find the key of a submission session, and check its senders."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.address import Address
from mailkeep.core.principal import Principal
from mailkeep.features.access.api_keys import service as api_keys
from mailkeep.features.access.sessions import service as sessions
from mailkeep.features.mailflow.abuse import service as abuse
from mailkeep.features.mailflow.abuse.model import SendCharge
from mailkeep.features.mailflow.key_senders import rules
from mailkeep.features.mailflow.sending import rules as sending_rules, service as sending
from mailkeep.features.mailflow.sending.model import SenderDomain

refusal_reply = rules.refusal_reply


async def find_caller(app: App, key_id: UUID, client: str | None, *, count: bool = False) -> Principal | None:
    """The caller of a session that this key opened from the address `client` (None: checked before), with its present
    rights; None if the key is not valid any more. With `count` a request of the key is counted: RATE_LIMIT_EXCEEDED.
    """
    async with app.db.autocommit() as conn:
        key = await api_keys.find_authenticated(conn, key_id, app.clock(), client or "", count=count)
    if key is None:
        return None
    sessions.refuse_over_rate(key)
    return sessions.key_principal(app, key, client)


async def check_senders(app: App, who: Principal, senders: Collection[Address]) -> list[SenderDomain]:
    """The domains of these senders, in order. Raises the refusal of `POST /send` if the key may not send from one:
    DOMAIN_NOT_FOUND, DOMAIN_INACTIVE, FORBIDDEN, API_KEY_DOMAIN_SCOPE (`refusal_reply`).
    """
    domains = await sending.refuse_senders(app, who, senders)
    return [sending_rules.domain_may_send(domains.get(each.key)) for each in senders]


async def check_author(app: App, who: Principal, author: Address) -> SenderDomain:
    """The domain of the address in From. Raises as `check_senders`, and MAILBOX_SUSPENDED: the policy service has
    checked and counted the envelope sender only.
    """
    (domain,) = await check_senders(app, who, [author])
    async with app.db.autocommit() as conn:
        (refusal,) = await abuse.refuse_suspended(conn, [SendCharge(author, domain.id, 1)])
    if refusal is not None:
        raise refusal
    return domain
