"""What a message's recipients decide: which of them are suppressed, its envelope sender, its unsubscribe link."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.address import MAX_ADDRESS_OCTETS, Address, AddressError, parse_address
from mailkeep.core.errors import RecipientSuppressed, Refusal, invalid_field
from mailkeep.features.mailflow.sending import rules
from mailkeep.features.mailflow.sending.model import SenderDomain, SenderLookup, SendRequest
from mailkeep.features.mailflow.suppressions.model import NO_SUPPRESSION, SuppressedAddress
from mailkeep.features.mailflow.unsubscribe import service as unsubscribe
from mailkeep.features.record.messages.model import Recipient, RecipientSuppression
from mailkeep.mail.message.bounce_address import bounce_address
from mailkeep.mail.message.compose import OutgoingMessage
from mailkeep.mail.message.unsubscribe import Unsubscribe


def build_lookup(requests: Sequence[SendRequest | Refusal]) -> SenderLookup:
    """What to look up for messages whose addresses are not parsed yet."""
    names, recipients, groups = set[str](), set[str](), set[UUID]()
    for request in requests:
        if isinstance(request, Refusal):
            continue
        try:
            sender = rules.parse_sender(request).address
        except Refusal:
            continue
        names |= {sender.domain, sender.key} | rules.recipient_domains(request)
        recipients |= {key for each in (*request.to, *request.cc, *request.bcc) if (key := _key(each.email))}
        groups |= {request.unsubscribe_group} if request.unsubscribe_group else set()
    return SenderLookup(names, recipients, groups)


def _key(email: str) -> str | None:
    """The key of an address; None for what is none. ASCII is not parsed: of that the key is in lower case."""
    if len(email) > MAX_ADDRESS_OCTETS or "\0" in email:
        return None
    if email.isascii():
        return email.lower()
    try:
        return parse_address(email).key
    except AddressError:
        return None


def merge(lookups: Collection[SenderLookup]) -> SenderLookup:
    """One look-up for several calls."""
    return SenderLookup(
        set[str]().union(*(each.names for each in lookups)),
        set[str]().union(*(each.recipients for each in lookups)),
        set[UUID]().union(*(each.groups for each in lookups)),
    )


def with_test_suppressions(domains: Mapping[str, SenderDomain], lookup: SenderLookup) -> dict[str, SenderDomain]:
    """The senders' domains of a look-up, by senders' keys and domain names, with a suppression of each recipient
    `suppressed@` (with any `+tag`) at an external domain: an address to try out suppressions with.
    """
    external = {each for each in lookup.names if "@" not in each} - domains.keys()
    tests = [
        SuppressedAddress(key, None, NO_SUPPRESSION, "hard_bounce")
        for key in lookup.recipients
        if key.partition("@")[0].partition("+")[0] == "suppressed" and key.partition("@")[2] in external
    ]
    if not tests:
        return dict(domains)
    return {
        name: replace(domain, suppressions=[*tests, *domain.suppressions]) if "@" in name else domain
        for name, domain in domains.items()
    }


def split_suppressed(
    envelope: Sequence[Address], domain: SenderDomain, group_id: UUID | None
) -> tuple[list[Address], list[Recipient]]:
    """The recipients to submit, and those that are suppressed for all mail of the domain, or for the message's group.
    RECIPIENT_SUPPRESSED if none remains.
    """
    found = {
        each.address_key: RecipientSuppression(each.id, each.reason)
        # A suppression for all mail is named before one for the group.
        for each in sorted(domain.suppressions, key=lambda each: each.group_id is None)
        if each.group_id in (None, group_id)
    }
    if not found:
        return list(envelope), []
    remaining = [each for each in envelope if each.key not in found]
    suppressed = [
        Recipient(each.text, "suppressed", suppression=found[each.key]) for each in envelope if each.key in found
    ]
    if not remaining:
        details = [
            {"address": each.address, "reason": each.suppression.reason, "suppression_id": str(each.suppression.id)}
            for each in suppressed
            if each.suppression
        ]
        names = ", ".join(each.address for each in suppressed[:3])
        raise RecipientSuppressed(
            f"Nothing was sent: {domain.name} has a suppression for every recipient ({names}). Remove it (DELETE "
            "/suppressions/{id}) if the address receives mail and wants yours.",
            recipients=details,
        )
    return remaining, suppressed


def envelope_sender(app: App, message_id: UUID, sender: Address, envelope: Sequence[Address]) -> str:
    """The bounce address of a message; in a domain that is too long for it the sender's own address."""
    return bounce_address(app.vault, message_id, [each.key for each in envelope], sender.domain) or sender.text


def with_unsubscribe_link(
    app: App, message_id: UUID, outgoing: OutgoingMessage, request: SendRequest, domain: SenderDomain
) -> OutgoingMessage:
    """The message with the link that its unsubscribe group needs. INVALID_FIELD."""
    group_id = request.unsubscribe_group
    if group_id is None:
        return outgoing
    if request.unsubscribe is not None:
        raise invalid_field("list_unsubscribe", "must be absent with unsubscribe")
    envelope = rules.envelope([*outgoing.to, *outgoing.cc, *outgoing.bcc])
    if len(envelope) != 1:
        text = f"needs a message with exactly one recipient (got {len(envelope)}), because the link unsubscribes it"
        raise invalid_field("unsubscribe", text)
    if group_id not in domain.groups:
        raise invalid_field("unsubscribe.group_id", f"{domain.name} has no unsubscribe group with this ID")
    public_url = app.settings.http.public_url
    # One click needs https (RFC 8058 §3.1). Without the full profile, a link to try it out may open the page instead.
    one_click = public_url.startswith("https://")
    if app.settings.is_full_profile and not one_click:
        text = f"needs the setting http.public_url with https://, which the link begins with (it is {public_url})"
        raise invalid_field("unsubscribe", text)
    link = unsubscribe.unsubscribe_link(app.vault, public_url, group_id, message_id, envelope[0].text)
    return replace(outgoing, list_unsubscribe=Unsubscribe(url=link, one_click=one_click))
