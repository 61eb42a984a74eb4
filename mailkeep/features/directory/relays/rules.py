"""Which addresses a relay may have, and the replies to Postfix for its recipients."""

from __future__ import annotations

from collections.abc import Sequence

from mailkeep.core.network import Network
from mailkeep.mail.smtp.client import AcceptedSubmission, ConnectionLost, SmtpRefusal
from mailkeep.mail.smtp.reply import SmtpReply
from mailkeep.net.guard import Address, refuse_address

_COMMANDS = {"envelope": "RCPT TO", "body": "DATA", "acceptance": "end of DATA"}


def filter_permitted(addresses: Sequence[Address], networks: Sequence[Network]) -> tuple[list[str], str]:
    """The addresses of a relay that may be connected to, and for the log the others with the reason."""
    reasons = {str(address): reason for address in addresses if (reason := refuse_address(address, networks))}
    refused = ", ".join(f"{address} ({reason})" for address, reason in reasons.items())
    return [str(address) for address in addresses if str(address) not in reasons], refused


def to_replies(
    host: str, rcpt_to: Sequence[str], result: AcceptedSubmission | SmtpRefusal | ConnectionLost
) -> list[SmtpReply]:
    """The reply for each recipient, worded as Postfix words those of remote servers; the log and bounces show it.

    A relay that refuses the connection or the login does not refuse the message: its mail is deferred.
    """
    if isinstance(result, ConnectionLost):
        return [_lost_reply(host, result)] * len(rcpt_to)
    if isinstance(result, SmtpRefusal):
        if result.stage in _COMMANDS:
            message_reply = _quote_reply(host, result.reply, _COMMANDS[result.stage])
        else:
            message_reply = _login_reply(host, result)
        rejected = {to: _quote_reply(host, reply, "RCPT TO") for to, reply in result.rejected.items()}
        return [rejected.get(to, message_reply) for to in rcpt_to]
    accepted = SmtpReply(250, "2.0.0", f"host {host} said: {result.reply}")
    return [_quote_reply(host, result.rejected[to], "RCPT TO") if to in result.rejected else accepted for to in rcpt_to]


def _quote_reply(host: str, reply: SmtpReply, command: str) -> SmtpReply:
    code = 550 if reply.is_permanent else 450
    enhanced = reply.enhanced or ("5.0.0" if reply.is_permanent else "4.0.0")
    return SmtpReply(code, enhanced, f"host {host} said: {reply} (in reply to {command} command)")


def _login_reply(host: str, refusal: SmtpRefusal) -> SmtpReply:
    if refusal.stage == "login":
        return SmtpReply(451, "4.7.8", f"host {host} said: {refusal.reply} (the relay refused the login)")
    cause = "the relay offers no TLS" if refusal.stage == "tls" else f"in reply to {refusal.stage}"
    return SmtpReply(451, "4.7.0", f"host {host} said: {refusal.reply} ({cause})")


def _lost_reply(host: str, lost: ConnectionLost) -> SmtpReply:
    if lost.submitted == "unknown":
        return SmtpReply(451, "4.4.2", f"lost connection with {host}: {lost.why} -- message may be sent more than once")
    if lost.stage == "tls":
        return SmtpReply(451, "4.7.5", f"TLS with {host} failed: {lost.why}")
    return SmtpReply(451, "4.4.1" if lost.stage == "connect" else "4.4.2", f"connect to {host}: {lost.why}")
