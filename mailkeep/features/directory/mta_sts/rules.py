"""Which policy and records a domain has, and what is wrong with the policy that a server answers."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

from mailkeep.features.directory.domains.model import Domain
from mailkeep.features.directory.mta_sts.model import PolicyCheck
from mailkeep.net.mta_sts import MAX_POLICY_BYTES, MtaStsPolicy, PolicyError, format_policy, host_of

_MAX_AGE = {"none": 86_400, "testing": 86_400, "enforce": 604_800}
WITHDRAWAL = timedelta(seconds=max(_MAX_AGE.values()))
"""How long the mode none is published after another mode: as long as senders may have kept the earlier policy."""
_ID_DIGITS = 20


def make_policy(domain: Domain, hostname: str, at: datetime) -> MtaStsPolicy | None:
    """The policy of a domain whose mail goes to `hostname`; None if MTA-STS is off, or the name is not set (empty)."""
    if domain.mta_sts_mode == "none":
        is_withdrawn = domain.mta_sts_ended_at is not None and at < domain.mta_sts_ended_at + WITHDRAWAL
        return MtaStsPolicy("none", (), _MAX_AGE["none"]) if is_withdrawn else None
    return MtaStsPolicy(domain.mta_sts_mode, (hostname,), _MAX_AGE[domain.mta_sts_mode]) if hostname else None


def policy(domain: Domain, hostname: str, at: datetime) -> str | None:
    """The text of `make_policy`."""
    made = make_policy(domain, hostname, at)
    return None if made is None else format_policy(made)


def policy_id(text: str) -> str:
    """The ID of a policy: another one for another text, and the same on every server (RFC 8461 §3.1)."""
    return hashlib.sha256(text.encode()).hexdigest()[:_ID_DIGITS]


def record_value(domain: Domain, hostname: str, at: datetime) -> str | None:
    """The TXT record `_mta-sts.DOMAIN` (RFC 8461 §3.1); None if MTA-STS is off."""
    text = policy(domain, hostname, at)
    return None if text is None else f"v=STSv1; id={policy_id(text)}"


def tls_report_value(hostname: str) -> str:
    """The TXT record `_smtp._tls.DOMAIN`, by which others send reports about TLS to this server (RFC 8460 §3)."""
    return f"v=TLSRPTv1; rua=mailto:tls@{hostname}"


def judge(domain: Domain, hostname: str, at: datetime, found: MtaStsPolicy | PolicyError | None) -> PolicyCheck:
    """The result of a check that has fetched a policy, or failed to; None: there was nothing to fetch."""
    expected = make_policy(domain, hostname, at)
    if expected is None or found is None:
        return PolicyCheck("not_checked")
    if isinstance(found, PolicyError):
        return _explain(found, host_of(domain.name))
    text = format_policy(found)
    if found == expected:
        return PolicyCheck("ok", (text,))
    return PolicyCheck(
        "mismatch",
        (text,),
        f"{host_of(domain.name)} serves another policy than this server.",
        "Let the proxy pass requests for this name to this server, with the Host field unchanged and without a cache.",
    )


def _explain(error: PolicyError, host: str) -> PolicyCheck:
    """What a failure means for the administrator of the domain."""
    match error.fault:
        case "dns":
            return PolicyCheck(
                "missing",
                (),
                f"{host} has no address.",
                f"Publish a CNAME record from {host} to the host that serves the policy, or its A and AAAA records.",
            )
        case "address_refused":
            problem = f"{host} has an address that is not public."
            advice = (
                "Publish the public address. For a private network, add it to the setting outbound.mta_sts_networks."
            )
        case "connect":
            problem = f"{host} accepts no connection on port 443."
            advice = "Run a proxy with HTTPS there that passes requests to this server, and open port 443."
        case "tls":
            problem = f"The certificate of {host} is not valid: {error.certificate or 'the TLS handshake failed'}."
            advice = f"Get a certificate for {host} from a public authority, such as Let's Encrypt, with its chain."
        case "timeout":
            problem = f"{host} did not answer within 10 seconds."
            advice = "Check that the proxy and this server run, and check again."
        case "protocol":
            problem = f"{host} does not answer with valid HTTP."
            advice = "Check what serves port 443 of this name."
        case "redirect":
            problem = f"{host} redirects to another URL, which senders must not follow."
            advice = "Serve the policy at this URL itself, without a redirect."
        case "status":
            problem = f"{host} does not serve the policy. {error.detail}"
            advice = "Let the proxy pass requests for this name to this server, with the Host field unchanged."
        case "media_type":
            problem = f"The policy at {host} has the wrong media type. {error.detail}"
            advice = "Let the proxy keep the Content-Type of this server."
        case "too_large":
            problem = f"The answer of {host} is larger than {MAX_POLICY_BYTES >> 10} KiB."
            advice = "Let the proxy pass requests for this name to this server."
        case "malformed":
            problem = f"What {host} serves is not a valid policy. {error.detail}"
            advice = "Let the proxy pass requests for this name to this server, without a cache."
    return PolicyCheck("mismatch", (), problem, advice)
