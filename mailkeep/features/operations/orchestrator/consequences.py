"""What users notice of an action on a service."""

from __future__ import annotations

from mailkeep.features.operations.orchestrator.model import ServiceAction

_ENDS = {
    "dovecot": "IMAP, POP3 and ManageSieve sessions end.",
    "postfix": "SMTP sessions end.",
    "prefork": "All of Mailkeep's own processes are started again.",
}
"""What ends when a service stops."""
_WITHOUT = {
    "redis": "The spam filter works without its statistics.",
    "rspamd": "Incoming mail waits at the sending servers, and mail programs get a temporary error when they send.",
    "dovecot": "Mail programs can't sign in, and incoming mail waits in the queue.",
    "postfix": "Mail is neither received nor delivered. Other servers try again.",
    "prefork": "The dashboard does not answer.",
    "api": "The API and the dashboard do not answer.",
    "node": "The queue and the services can't be seen or changed.",
    "worker": "Webhooks wait.",
    "lmtp": "Incoming mail waits in the queue.",
    "logs": "The history shows delivery outcomes later.",
    "policy": "Mail programs and other servers are asked to try again later.",
    "relay": "Mail for relays waits in the queue.",
    "reinjection": "Forwards and replies of Sieve scripts wait.",
    "sendmail": "Programs on this machine can't send with the sendmail command.",
    "keys": "Outgoing mail waits, because it can't be signed.",
    "usage": "The shown mailbox usage and last logins may be out of date.",
}
"""What users notice while a service does not run."""
_RELOADS = {
    "postfix": "Deliveries that are under way are tried again.",
    "dovecot": "New sessions use the new configuration.",
    "rspamd": "New mail is checked with the new configuration.",
}
_UNTIL = {
    "stop": "This lasts until the service is started again, or until the next start of Mailkeep.",
    "restart": "This lasts a few seconds.",
}


def describe_consequence(service: str, action: ServiceAction) -> str:
    """What users notice of an action, in sentences."""
    if action == "start":
        return "Users notice only that it works again."
    if action == "reload":
        return _RELOADS.get(service, "It reads its configuration again.")
    without = _WITHOUT.get(service, "What this service does is not available.")
    return " ".join(filter(None, (_ENDS.get(service), without, _UNTIL[action])))
