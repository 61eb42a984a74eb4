"""Which addresses a relay may have, and the replies to Postfix for its recipients."""

from __future__ import annotations

from collections.abc import Sequence

from mailkeep.core.network import Network
from mailkeep.mail.smtp.client import Lost, Refused, Submitted
from mailkeep.mail.smtp.reply import Reply
from mailkeep.net.guard import Address, refuse_address

_COMMANDS = {"envelope": "RCPT TO", "body": "DATA", "acceptance": "end of DATA"}


def filter_permitted(found: Sequence[Address], networks: Sequence[Network]) -> tuple[list[str], str]:
    """The addresses of a relay that may be connected to, and a text for operators about the others."""
    refused = {str(each): why for each in found if (why := refuse_address(each, networks))}
    told = ", ".join(f"{address} ({why})" for address, why in refused.items())
    return [str(each) for each in found if str(each) not in refused], told


def to_replies(host: str, rcpt_to: Sequence[str], result: Submitted | Refused | Lost) -> list[Reply]:
    """The reply for each recipient, in the words that Postfix uses for a remote server; the log and bounces show them.

    A relay that refuses the connection or the login does not refuse the message: its mail is deferred.
    """
    if isinstance(result, Lost):
        return [_lost_reply(host, result)] * len(rcpt_to)
    if isinstance(result, Refused):
        whole = _quote_reply(host, result.reply, _COMMANDS.get(result.stage, result.stage))
        if result.stage not in _COMMANDS:
            whole = _login_reply(host, result)
        rejected = {to: _quote_reply(host, reply, "RCPT TO") for to, reply in result.rejected.items()}
        return [rejected.get(to, whole) for to in rcpt_to]
    taken = Reply(250, "2.0.0", f"host {host} said: {result.reply}")
    return [_quote_reply(host, result.rejected[to], "RCPT TO") if to in result.rejected else taken for to in rcpt_to]


def _quote_reply(host: str, reply: Reply, command: str) -> Reply:
    code = 550 if reply.permanent else 450
    enhanced = reply.enhanced or ("5.0.0" if reply.permanent else "4.0.0")
    return Reply(code, enhanced, f"host {host} said: {reply} (in reply to {command} command)")


def _login_reply(host: str, refused: Refused) -> Reply:
    if refused.stage == "login":
        return Reply(451, "4.7.8", f"host {host} said: {refused.reply} (the relay refused the login)")
    words = "the relay offers no TLS" if refused.stage == "tls" else f"in reply to {refused.stage}"
    return Reply(451, "4.7.0", f"host {host} said: {refused.reply} ({words})")


def _lost_reply(host: str, lost: Lost) -> Reply:
    if lost.submitted == "unknown":
        return Reply(451, "4.4.2", f"lost connection with {host}: {lost.why} -- message may be sent more than once")
    if lost.stage == "tls":
        return Reply(451, "4.7.5", f"TLS with {host} failed: {lost.why}")
    return Reply(451, "4.4.1" if lost.stage == "connect" else "4.4.2", f"connect to {host}: {lost.why}")
