"""The effect of interrupted requests, for their repetition with the same Idempotency-Key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.errors import IdempotencyInProgress, Refusal
from mailkeep.core.principal import Principal
from mailkeep.features.mailflow.sending.model import AcceptedMessage, SendRequest
from mailkeep.features.mailflow.sending.schedule import schedule_outcome
from mailkeep.features.mailflow.sending.service import SENT, SendOutcome, send_all
from mailkeep.features.record.messages import service as messages


async def find_sent(app: App, request_id: UUID) -> dict[int, AcceptedMessage]:
    """The accepted messages of an interrupted request, by their index in it. IDEMPOTENCY_IN_PROGRESS while a result is
    not known. The other messages were certainly not accepted and may be sent again.
    """
    async with app.db.autocommit() as conn:
        attempts = await messages.find_by_request(conn, request_id)
    # A scheduled message is settled, whatever has become of it since.
    if any(message.status in ("submitting", "unknown") and not message.scheduled_at for message in attempts):
        raise IdempotencyInProgress
    return {
        message.batch_index or 0: schedule_outcome(message)
        if message.scheduled_at
        else AcceptedMessage(
            message.id, message.message_id, message.status, [(each.address, each.status) for each in message.recipients]
        )
        for message in attempts
        if message.accepted_at is not None or message.scheduled_at is not None
    }


async def resume_batch(
    app: App, who: Principal, requests: Sequence[SendRequest | Refusal], accepted: Mapping[int, AcceptedMessage]
) -> list[SendOutcome]:
    """Send the messages of a batch except the `accepted` ones (by index); returns the outcome of each, in order."""
    outcomes = await send_all(app, who, [SENT if index in accepted else each for index, each in enumerate(requests)])
    return [accepted.get(index, outcome) for index, outcome in enumerate(outcomes)]
