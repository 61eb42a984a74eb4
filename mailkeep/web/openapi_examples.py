"""Example values for the types of responses, and example ids, for the OpenAPI document."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, cast
from uuid import UUID

from msgspec import inspect as mi

from mailkeep.web.fields import variants

EXAMPLE_TIME = "2026-03-01T12:00:00.000Z"
_LATER = "2026-03-02T12:00:00.000Z"
_MESSAGE_ID = "<0199a1b2-51f0-7c3d-9e41-0d8f6c1b2a37@example.test>"

# By the name of a field.
_BY_FIELD: dict[str, Any] = {
    "address": "alice@example.test",
    "by": "sue@example.test",
    "cc": [],
    "deleted_at": None,
    "destination": "alice@example.test,archive@elsewhere.test",
    "destinations": ["alice@example.test"],
    "diagnostic": "2.0.0 Ok: queued",
    "disabled_at": None,
    "domain_name": "example.test",
    "email": "alice@example.test",
    "enhanced_code": "2.0.0",
    "error_code": None,
    "expires_at": _LATER,
    "failing_since": None,
    "from": "hello@example.test",
    "ip": "192.0.2.10",
    "ip_address": "192.0.2.10",
    "key": "svc_sk_Zk3PpXw0vS8eYt5RbQ2nLd7uHcJf1GmA9oKiTzBx4Wq",
    "key_prefix": "svc_sk_Zk3P",
    "label": "sue@example.test",
    "local_part": "alice",
    "mail_from": "hello@example.test",
    "max_aliases": None,
    "max_mailboxes": None,
    "message": "Done.",
    "message_count": 12,
    "message_id": _MESSAGE_ID,
    "name": "Example",
    "next_attempt_at": _LATER,
    "oidc_provider": None,
    "parent_id": None,
    "passkeys": 0,
    "protocol": "imap",
    "queue_id": "0199a1b251f07c3d9e410d8f6c1b2a37",
    "quota_bytes": 1073741824,
    "rate_limit": 60,
    "resource_id": "0199a1b2-c6c0-74e1-82ce-dd87fb93da87",
    "rcpt_to": ["someone@elsewhere.test"],
    "remote_host": "mx.elsewhere.test",
    "response_excerpt": "ok",
    "rotating_until": None,
    "scoped_domain_ids": [],
    "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw0n1Yq0oJmxQ=",
    "size": 2048,
    "smtp_code": 250,
    "source_local_part": "sales",
    "subject": "Welcome",
    "symbols": [],
    "tags": [],
    "to": ["someone@elsewhere.test"],
    "totp_enabled": False,
    "used_bytes": 734003,
    "user_agent": "curl/8.5.0",
    "version": "0.1.0",
    "warnings": [],
}

# By struct and field, where the struct matters.
BY_STRUCT: dict[str, Any] = {
    "ActorResponse.key_id": None,
    "ActorResponse.type": "session",
    "AuditEntryResponse.action": "alias.create",
    "AuditEntryResponse.details": {"before": None, "after": {"source_local_part": "sales", "active": True}},
    "AuditEntryResponse.outcome": "success",
    "AuditEntryResponse.resource_type": "alias",
    "AuthenticationResults.dkim": None,
    "AuthenticationResults.dmarc": None,
    "AuthenticationResults.spf": None,
    "BatchAnswer.results": [
        {
            "index": 0,
            "message_id": _MESSAGE_ID,
            "id": "0199a1b2-51f0-7c3d-9e41-0d8f6c1b2a37",
            "status": "queued",
            "recipients": [{"address": "someone@elsewhere.test", "status": "queued"}],
        },
        {
            "index": 1,
            "error": "A recipient address is malformed.",
            "code": "INVALID_RECIPIENT",
            "details": {"field": "to", "index": 0},
        },
    ],
    "BatchAnswer.total": 2,
    "MailboxDeletion.kept_until": "2026-03-31T12:00:00.000Z",
    "MailboxDeletion.purged": False,
    "MessageAttachment.content_type": "application/pdf",
    "MessageAttachment.filename": "order.pdf",
    "RouteDeliveryRecord.address": "alice@example.test",
    "RouteDeliveryRecord.type": "mailbox",
    "DkimKeyRecord.algorithm": "rsa2048",
    "DkimKeyRecord.fingerprint_sha256": hashlib.sha256(b"sample").hexdigest(),
    "DkimKeyRecord.id": "0199a1b2-70a1-7c3d-8e41-0d8f6c1b2a37",
    "DkimKeyRecord.safe_to_remove_from_dns": False,
    "DkimKeyRecord.selector": "mk202603",
    "DkimKeyRecord.stage": "active",
    "CreationOptions.challenge": "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA",
    "CreationOptions.excludeCredentials": [],
    "CreationOptions.timeout": 300_000,
    "DkimDnsRecord.checked_at": None,
    "DkimDnsRecord.name": "mk202603._domainkey.example.test",
    "DkimDnsRecord.status": "not_checked",
    "DkimDnsRecord.value": "v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG9w0B…",
    "DomainDns.checked_at": None,
    "DomainDns.status": "unchecked",
    "DomainRecord.default_quota_bytes": 0,
    "DomainRecord.description": "",
    "DomainRecord.name": "example.test",
    "DomainRecord.plus_delimiter": "+",
    "DomainRecord.unicode_name": "example.test",
    "DomainRecord.relay": None,
    "DomainUsageRecord.aliases": 3,
    "DomainUsageRecord.bytes": 734003,
    "DomainUsageRecord.mailboxes": 12,
    "DecidedByRecord.rule": "junk_score",
    "DecidedByRecord.entry_id": None,
    "DecidedByRecord.scope": "domain",
    "EffectiveDigest.value": "off",
    "EffectiveScore.scope": "domain",
    "EffectiveScore.value": 4.5,
    "FilterEntryRecord.comment": "Offers",
    "FilterEntryRecord.created_by": "sue@example.test",
    "FilterEntryRecord.enforced": False,
    "FilterEntryRecord.hits": 12,
    "FilterEntryRecord.value": "offers@elsewhere.test",
    "FilterImportAnswer.failed": 0,
    "FilterImportResult.id": "0199a1b2-a561-7527-8ce6-b3bebd1dd012",
    "FilterImportResult.index": 0,
    "FilterTestResult.action": "junk",
    "FilterTestResult.at": "delivery",
    "FilteringRecord.digest": None,
    "FilteringRecord.junk_score": 4.5,
    "FilteringRecord.learn": None,
    "FilteringRecord.reject_score": "off",
    "TestStep.at": "delivery",
    "TestStep.entry_id": None,
    "TestStep.result": "The score 7.5 reaches it: it goes to Junk.",
    "TestStep.rule": "junk_score",
    "TestStep.step": "Junk score of the domain: 4.5",
    "TrainingRecord.ham_learned": 312,
    "TrainingRecord.required": 200,
    "TrainingRecord.spam_learned": 204,
    "RouteExplanationRecord.decision": "deliver",
    "HeaderField.name": "Subject",
    "HeaderField.value": "Welcome",
    "CredentialParameters.alg": -7,
    "ApiKeyRecord.is_scoped": False,
    "InvitationRecord.sent_to": None,
    "InvitationRecord.url": "https://mail.example.test/invitation#kq0fPZ0S1mJgTn3b7m1Wc2hX5uYtR8vQe6dL4aNsIjo",
    "InvitedAccountRecord.type": "mailbox",
    "InvitationAcceptance.type": "mailbox",
    "ClientSetupResponse.app_password_required": False,
    "ClientSetupResponse.login": "alice@example.test",
    "SetupLinkRecord.url": "https://mail.example.test/setup/kq0fPZ0S1mJgTn3b7m1Wc2hX5uYtR8vQe6dL4aNsIjo",
    "MailServiceRecord.host": "mail.example.test",
    "MailServiceRecord.port": 993,
    "MailServiceRecord.security": "tls",
    "OwnMailboxRecord.name": "Alice Example",
    "OwnMailboxRecord.require_app_passwords": None,
    "OwnMailboxRecord.second_factor": False,
    "OwnMailboxRecord.time_zone": "Europe/Berlin",
    "OwnMessage.reason": None,
    "OwnMessage.spam_score": 7.2,
    "OwnMessage.to": ["alice@example.test"],
    "SignInRecord.program": "Phone",
    "MailboxRecord.name": "Alice Example",
    "MessageResponse.api_key_id": None,
    "MessageResponse.direction": "outbound",
    "MessageResponse.mailbox_id": None,
    "MessageResponse.source": "api",
    "MessageResponse.status": "delivered",
    "RpEntity.id": "mail.example.test",
    "RpEntity.name": "Mailkeep",
    "PasskeyRecord.aaguid": "00000000-0000-0000-0000-000000000000",
    "PasskeyRecord.name": "My laptop",
    "PasskeyRecord.transports": ["internal", "hybrid"],
    "ProviderRecord.id": "keycloak",
    "ProviderRecord.login_path": "/api/v1/auth/oidc/login/keycloak",
    "ProviderRecord.name": "Keycloak",
    "MessageRecipientResponse.address": "someone@elsewhere.test",
    "MessageRecipientResponse.status": "delivered",
    "RequestOptions.allowCredentials": [],
    "RequestOptions.challenge": "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA",
    "RequestOptions.rpId": "mail.example.test",
    "RequestOptions.timeout": 300_000,
    "MessageContentResponse.body_html": "<p>Good to have you here.</p>",
    "MessageContentResponse.body_text": "Good to have you here.",
    "MessageContentResponse.parse_error": None,
    "MessageContentResponse.truncated": False,
    "AuthenticatorSelection.requireResidentKey": False,
    "SentMessage.status": "queued",
    "SentRecipient.address": "someone@elsewhere.test",
    "SentRecipient.status": "queued",
    "Spam.action": None,
    "Spam.score": None,
    "WebhookAttemptResponse.duration_ms": 84,
    "WebhookAttemptResponse.error": None,
    "WebhookAttemptResponse.status": 200,
    "DeliveryRecord.event": "mail.delivered",
    "DeliveryRecord.state": "delivered",
    "ReplayResponse.next_since": None,
    "ReplayResponse.queued": 12,
    "RouteStepRecord.address": "alice@example.test",
    "RouteStepRecord.result": "found",
    "RouteStepRecord.step": "mailbox",
    "SuspensionRecord.reason": "Sends more than it should.",
    "TestResult.error": None,
    "TestResult.status": 200,
    "UserEntity.displayName": "sue@example.test",
    "UserEntity.id": "AZmhskAAd82OQQ2PbBsqNw",
    "UserEntity.name": "sue@example.test",
    "WebhookWithSecret.events": ["mail.delivered", "mail.bounced"],
    "WebhookWithSecret.url": "https://shop.example/hooks/mail",
    "WebhookRecord.events": ["mail.delivered", "mail.bounced"],
    "WebhookRecord.url": "https://shop.example/hooks/mail",
}
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_BY_PLACEHOLDER = {
    "totp_code": "492039",
    "totp_session": "kq0fPZ0S1mJgTn3b7m1Wc2hX5uYtR8vQe6dL4aNsIjo",
    "invitation_token": "kq0fPZ0S1mJgTn3b7m1Wc2hX5uYtR8vQe6dL4aNsIjo",
    "used_token": "kq0fPZ0S1mJgTn3b7m1Wc2hX5uYtR8vQe6dL4aNsIjo",
    # A passkey's responses, shortened.
    "registration_id": "hLmYcXJ6vT2bq9e0Zs1RkA",
    "registration_client_data": "eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIiwiY2hhbGxlbmdlIjoi…",
    "registration_attestation": "o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YVikSZYN5YgO…",
    "login_id": "hLmYcXJ6vT2bq9e0Zs1RkA",
    "login_client_data": "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoi…",
    "login_data": "SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ",
    "login_signature": "MEUCIQDKg0iLp1UeVJ8m2XcO6r5b8s4F7zqT…",
    "login_handle": "AZmhskAAd82OQQ2PbBsqNw",
}


def fill_placeholders(value: Any) -> Any:
    """An example's value with each `{name}` in its strings replaced by an example id or code."""
    if isinstance(value, str):
        return _PLACEHOLDER.sub(lambda match: _BY_PLACEHOLDER.get(match[1]) or example_id(match[1]), value)
    if isinstance(value, list):
        return [fill_placeholders(each) for each in cast(list[Any], value)]
    if isinstance(value, Mapping):
        return {name: fill_placeholders(each) for name, each in cast(Mapping[str, Any], value).items()}
    return value


def example_id(name: str) -> str:
    """An example UUIDv7, always the same for a name."""
    digest = hashlib.sha256(name.encode()).digest()
    raw = int.from_bytes(b"\x01\x99\xa1\xb2" + digest[:12])
    return str(UUID(int=raw & ~(0xF << 76) & ~(0x3 << 62) | 0x7 << 76 | 0x2 << 62))


def example_value(kind: Any, parameters: Mapping[str, Any]) -> Any:
    """An example value of a type (of the first variant if there are several). A field that is also in `parameters` (of
    the request: path, query, body) gets its value if the type fits.
    """
    return _example(mi.type_info(variants(kind)[0]), "", parameters)


_NO_EXAMPLE = object()


def _example(kind: mi.Type, name: str, parameters: Mapping[str, Any]) -> Any:
    match kind:
        case mi.Metadata():
            extra: dict[str, Any] = cast(Any, kind).extra_json_schema or {}
            time = {"date-time": EXAMPLE_TIME, "date": EXAMPLE_TIME[:10]}.get(extra.get("format", ""))
            is_time = time and _value(name, parameters) is _NO_EXAMPLE
            return time if is_time else _example(kind.type, name, parameters)
        case mi.UnionType():
            inner = next(each for each in kind.types if not isinstance(each, mi.NoneType))
            has_no_example = isinstance(inner, mi.StructType | mi.DictType) and _value(name, parameters) is _NO_EXAMPLE
            is_null = kind.includes_none and (has_no_example or _value(name, parameters) is None)
            return None if is_null else _example(inner, name, parameters)
        case mi.StructType():
            return {
                field.encode_name: _example(field.type, f"{kind.cls.__name__}.{field.encode_name}", parameters)
                for field in kind.fields
                if field.encode_name in parameters or field.required or not kind.cls.__struct_config__.omit_defaults
            }
        case mi.ListType():
            value = _value(name, parameters)
            if isinstance(value, list):
                values = cast(list[Any], value)
                if not isinstance(kind.item_type, mi.StructType) or all(isinstance(each, dict) for each in values):
                    return values
            return [_example(kind.item_type, name, parameters)]
        case mi.DictType():
            value = _value(name, parameters)
            members = cast(dict[str, Any], value) if isinstance(value, dict) else {}
            if not isinstance(kind.value_type, mi.StructType) or all(
                isinstance(each, dict) for each in members.values()
            ):
                return members
            return {each: _example(kind.value_type, name, parameters) for each in members}
        case _:
            return _plain(kind, name, _value(name, parameters))


def _value(name: str, parameters: Mapping[str, Any]) -> Any:
    """The example value of a field: from `parameters`, by its struct, or by its name."""
    field = name.rpartition(".")[2]
    return parameters.get(field, BY_STRUCT.get(name, _BY_FIELD.get(field, _NO_EXAMPLE)))


def _plain(kind: mi.Type, name: str, value: Any) -> Any:
    field = name.rpartition(".")[2]
    match kind:
        case mi.EnumType(cls=cls):
            return value if value in [member.value for member in cls] else next(iter(cls)).value
        case mi.LiteralType(values=values):
            return value if value in values else values[0]
        case mi.UUIDType():
            return value if isinstance(value, str) and len(value) == 36 else example_id(field)
        case mi.StrType():
            return value if isinstance(value, str) else field
        case mi.BoolType():
            return value if isinstance(value, bool) else True
        case mi.IntType(ge=low) | mi.FloatType(ge=low):
            return value if isinstance(value, int) and not isinstance(value, bool) else low or 1
        case _:
            return None
