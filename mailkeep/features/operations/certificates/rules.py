"""Which names a certificate has, when it is renewed, and when somebody is informed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256

from mailkeep.core.clock import iso
from mailkeep.core.errors import Failure
from mailkeep.features.operations.certificates.model import SERVER, Leaf, NameCheck, TlsCertificate
from mailkeep.net.acme.client import Window
from mailkeep.net.client import OutboundError

FAILURES_UNTIL_ALERT = 2
LOOK_AGAIN = timedelta(hours=1)  # at names that do not lead here
_ASK_AGAIN = timedelta(hours=6)  # the authority about the window, unless it says when
_BETWEEN_RENEWALS = timedelta(hours=6)
_SHORTEST, _LONGEST = timedelta(minutes=1), timedelta(hours=24)
_FIRST_PAUSE = timedelta(minutes=10)
_SHORT_LIFETIME = timedelta(days=10)


def describe(chain: str) -> Leaf:
    """The properties of the first certificate in PEM; ValueError if there is none."""
    leaf = x509.load_pem_x509_certificates(chain.encode())[0]
    try:
        alternative = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        names = tuple(alternative.get_values_for_type(x509.DNSName))
    except x509.ExtensionNotFound:
        names = ()
    return Leaf(
        names,
        leaf.issuer.rfc4514_string()[:500],
        f"{leaf.serial_number:x}",
        leaf.fingerprint(SHA256()).hex(),
        leaf.not_valid_before_utc,
        leaf.not_valid_after_utc,
    )


def renewal_time(certificate: TlsCertificate, window: Window | None, at: datetime) -> datetime | None:
    """When to renew: at a moment in the window, or when a tenth of the lifetime is left, if that is earlier. Not again
    within six hours, also if the clock is wrong. None without a certificate.
    """
    if certificate.not_after is None or certificate.not_before is None:
        return None
    share = _share(certificate)
    lifetime = certificate.not_after - certificate.not_before
    if window is not None:
        found = min(window.start + (window.end - window.start) * share, certificate.not_after - lifetime / 10)
    else:
        left = lifetime / 2 if lifetime < _SHORT_LIFETIME else lifetime / 3
        found = certificate.not_after - left - lifetime * share / 50
    issued_at = certificate.issued_at
    return found if issued_at is None or issued_at > at else max(found, issued_at + _BETWEEN_RENEWALS)


def _share(certificate: TlsCertificate) -> float:
    """A number from 0 to 1 that is always the same for a certificate, and another for the next one."""
    digest = hashlib.sha256(f"{certificate.id}{certificate.serial}".encode()).digest()
    return int.from_bytes(digest[:4]) / 2**32


def select_names(certificate: TlsCertificate, checks: Sequence[NameCheck], at: datetime) -> tuple[str, ...]:
    """The names to order. Failure if a name of the certificate does not lead here any more, while there is time."""
    ready = tuple(each.name for each in checks if each.status == "ok")
    lost = [each for each in checks if each.status != "ok" and each.name in certificate.names]
    if certificate.chain is not None and lost and _find_rest(certificate, at) > 1 / 6:
        raise Failure(f"{lost[0].name} is in the certificate, but: {lost[0].problem}")
    if not ready:
        raise Failure(checks[0].problem if checks else "No host name is set.")
    return ready


def needs_order(certificate: TlsCertificate, ready: Sequence[str], renew_at: datetime | None, at: datetime) -> bool:
    """Whether to order now; `ready` are the names that lead here."""
    if certificate.chain is None or renew_at is None or certificate.not_before is None:
        return bool(ready)
    is_replaced = certificate.forced or (certificate.revoke_reason is not None and certificate.revoking is None)
    return is_replaced or renew_at <= at or not set(ready) <= set(certificate.names)


def next_look(checks: Sequence[NameCheck], renew_at: datetime | None, window: Window | None, at: datetime) -> datetime:
    """When to look again after a success: at the renewal, or earlier for the window and missing names."""
    pause = timedelta(seconds=window.ask_again) if window and window.ask_again else _ASK_AGAIN
    pause = min(max(pause, _SHORTEST), _LONGEST)
    if any(each.status != "ok" for each in checks):
        pause = min(pause, LOOK_AGAIN)
    return at + pause if renew_at is None else min(at + pause, max(renew_at, at))


def pause_after(failures: int, retry_after: float | None) -> timedelta:
    """The pause after this number of failures: ten minutes, doubled each time, at most a day, or what was asked for."""
    asked_for = timedelta(seconds=min(max(retry_after or 0, 0), 7 * 86_400))
    return max(min(_FIRST_PAUSE * 2 ** min(failures - 1, 8), _LONGEST), asked_for)


def find_alert(
    certificate: TlsCertificate, problem: str, failures: int, at: datetime, *, is_renewed: bool
) -> str | None:
    """What to report about a certificate after an attempt; None if nothing is wrong. `is_renewed`: by Mailkeep."""
    text = f"The certificate {describe_name(certificate)}"
    if certificate.not_after is not None and certificate.source != "self_signed":
        is_late = _find_rest(certificate, at) <= 1 / 3
        if is_late and (failures or not is_renewed):
            ended = certificate.not_after <= at
            when = f"{'expired' if ended else 'expires'} at {iso(certificate.not_after)}"
            return f"{text} {when}. {problem or 'It is not renewed automatically.'}"
    if failures >= FAILURES_UNTIL_ALERT:
        return f"{text} was not {'renewed' if certificate.chain else 'issued'}. {problem}"
    return None


def describe_name(certificate: TlsCertificate) -> str:
    """Whose certificate it is, in words."""
    return "of the server" if certificate.name == SERVER else f"of {certificate.name}"


def explain_fetch(name: str, error: OutboundError) -> NameCheck:
    """The result for a name whose file could not be fetched."""
    match error.kind:
        case "dns" if "no answer" in error.detail or "could not be" in error.detail:
            text = "can't be looked up in DNS."
        case "dns":
            return NameCheck(name, "not_published", f"{name} has no address in DNS.")
        case "address_refused":
            text = "has an address that is not public; acme.allowed_networks permits others."
        case "connect":
            text = "accepts no connection on port 80."
        case "timeout":
            text = "did not answer on port 80 in time."
        case _:
            text = "does not answer with valid HTTP on port 80."
    return NameCheck(name, "failed", f"{name} {text}")


def explain_answer(name: str, status: int, *, is_ours: bool) -> NameCheck:
    """The result for a name that has answered."""
    if is_ours:
        return NameCheck(name, "ok")
    if 300 <= status < 400:
        text = f"{name} redirects /.well-known/acme-challenge/ (status {status}) instead of passing it to this server."
    else:
        text = f"Port 80 of {name} does not lead to this server: status {status} for our own file."
    return NameCheck(name, "failed", text)


def _find_rest(certificate: TlsCertificate, at: datetime) -> float:
    """The share of the lifetime that is left."""
    if certificate.not_after is None or certificate.not_before is None:
        return 0
    return (certificate.not_after - at) / max(certificate.not_after - certificate.not_before, timedelta(seconds=1))
