"""The TLS context of the embedded profile's SMTP listener, from the same certificate as the full profile's daemons."""

from __future__ import annotations

import ssl
from datetime import datetime
from pathlib import Path

from mailkeep.core.clock import Clock
from mailkeep.db.instance import ensure_own_folder
from mailkeep.run.runtime import certificate
from mailkeep.settings import Settings


class ListenerCertificate:
    """The operator's certificate (`tls.certificate_file`), else a self-signed one in the folder `tls` of the data
    directory, which is replaced when it has expired or the server has another name.
    """

    def __init__(self, settings: Settings, data_dir: Path, clock: Clock) -> None:
        """Raises a permanent Failure if the operator's files are invalid."""
        self._settings, self._folder, self._clock = settings, data_dir / "tls", clock
        ensure_own_folder(self._folder, 0o700)
        self._context, self._ends = self._load()
        self.renewal = certificate.Renewal(settings, self._folder, self._reload)

    def context(self) -> ssl.SSLContext:
        """The context for a new session: TLS 1.2 or later."""
        if not self._settings.tls.certificate_file and self._clock() >= self._ends:
            self._context, self._ends = self._load()
        return self._context

    def _load(self) -> tuple[ssl.SSLContext, datetime]:
        at = self._clock()
        served = certificate.install(self._settings, self._folder, self._settings.server.name, at)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(served)
        found = certificate.read_served(self._settings, self._folder, at)
        assert found is not None
        return context, found.ends

    async def _reload(self) -> None:
        self._context, self._ends = self._load()
