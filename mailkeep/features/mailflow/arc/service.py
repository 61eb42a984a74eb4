"""The keys with which domains seal what they forward."""

from __future__ import annotations

import asyncio

import structlog

from mailkeep.app import App
from mailkeep.features.directory.dkim import service as dkim
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.record.events import service as events
from mailkeep.features.record.events.model import Event, SystemAlert
from mailkeep.mail.dovecot.sieve_spool import SpooledMessage
from mailkeep.mail.message import arc
from mailkeep.mail.message.dkim import SigningKey

log = structlog.get_logger("mailkeep.arc")

_NO_KEY = "{domain} has no active RSA key: mail that it forwards leaves without an ARC seal"
_UNREADABLE = "A DKIM key of {domain} can't be decrypted: mail that it forwards leaves without an ARC seal"
_NOT_ASKED = "{count} forwarded messages left without an ARC seal: the process `keys` did not answer the filter"
_SERVER = ""  # the subject of alerts that are about no domain


class Sealing:
    """Finds keys, and emits an alert at the first message of a domain that has to leave without a seal."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._alerted: set[str] = set()

    async def find_key(self, domain: str, unsealed: int = 0) -> SigningKey | None:
        """The key with which a domain seals; None if it has none, or is not managed (no alert: it is the server's own
        name). `unsealed`: messages that left without a seal since the last call. UNAVAILABLE.
        """
        if unsealed:
            await self._alert(_SERVER, _NOT_ASKED.format(count=unsealed))
        else:
            self._alerted.discard(_SERVER)
        reason = _NO_KEY
        try:
            async with self._app.db.autocommit() as conn:
                keys = await dkim.list_signing_keys(conn, self._app.vault, domain)
        except RuntimeError as error:
            log.error("a key can't be used to seal", domain=domain, reason=str(error))
            keys, reason = [], _UNREADABLE
        if usable := [key for key in keys if key.algorithm != "ed25519"]:
            self._alerted.discard(domain)
            return usable[-1]
        await self._alert(domain, reason.format(domain=domain))
        return None

    async def _alert(self, domain: str, reason: str) -> None:
        if domain in self._alerted:
            return
        async with self._app.db.tx() as conn:
            found = await domains.find_by_name(conn, domain) if domain else None
            if domain and not found:
                return
            log.warning("forwarded mail is not sealed", domain=domain, reason=reason)
            alert = SystemAlert(alert="forward_unsealed", domain=domain or None, reason=reason)
            await events.emit(conn, self._app.clock(), Event(found.id if found else None, None, alert))
        self._alerted.add(domain)


async def seal_redirect(app: App, sealing: Sealing, message: SpooledMessage, domain: str) -> bytes:
    """The ARC set of a message that a mailbox of `domain` redirects, to put before it; empty without a key, or if it is
    not to be sealed (`mail/message/arc`). UNAVAILABLE.
    """
    if not app.settings.filter.network_checks:  # nothing was validated
        return b""
    key = await sealing.find_key(domain)
    if key is None:
        return b""
    return await asyncio.to_thread(arc.seal, message.content(), app.settings.server.name, domain, key, app.clock())
