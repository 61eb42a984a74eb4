"""The process `policy`: serves Postfix's policy requests and sender tables (`features/mailflow/policy`), and the TLS
policies of deliveries (`features/mailflow/tls_policy`).
"""

from __future__ import annotations

import asyncio
import grp

from mailkeep.app import App
from mailkeep.core.errors import Failure
from mailkeep.features.mailflow.filtering.service import HitCounter
from mailkeep.features.mailflow.policy.service import PolicyServer, sender_tables
from mailkeep.features.mailflow.tls_policy.service import TlsPolicies
from mailkeep.jobs.cancellation import cancel_all
from mailkeep.jobs.repeat import repeat
from mailkeep.mail.postfix.policy import serve_policy
from mailkeep.mail.postfix.socketmap import serve_tables
from mailkeep.net.dns_query import DnsQuery
from mailkeep.run.runtime.process import Process

_REFRESH_SECONDS = 600.0


async def serve(app: App, process: Process) -> None:
    """Answer until asked to stop."""

    def get_resolver() -> DnsQuery:
        is_private = app.settings.dns.resolver == "unbound"
        return DnsQuery([(process.paths.own_address, 53)] if is_private else ())

    tls_policies, hits = TlsPolicies(app, get_resolver), HitCounter(app)
    try:
        group, paths = grp.getgrnam("postfix").gr_gid, process.paths
        servers = (
            await serve_policy(paths.policy_socket, PolicyServer(app, hits).answer, mode=0o660, group=group),
            await serve_tables(paths.senders_socket, sender_tables(app), mode=0o660, group=group),
            await serve_tables(paths.tls_policy_socket, tls_policies.tables(), mode=0o660, group=group),
        )
    except (OSError, KeyError) as error:
        raise Failure(f"The process policy can't listen: {error}", permanent=True) from error
    refreshing = asyncio.create_task(repeat(_REFRESH_SECONDS, "refreshing MTA-STS policies", tls_policies.refresh))
    counting = asyncio.create_task(hits.run())
    process.report_ready()
    await process.stop_requested.wait()
    await cancel_all(refreshing, counting)
    for server in servers:
        server.close()
    await asyncio.sleep(0.2)  # time for answers in progress
