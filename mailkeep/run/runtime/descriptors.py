"""File descriptors: as many as the system lets this process have, and what is left of them for clients."""

from __future__ import annotations

import resource

_ENOUGH = 1 << 20
_OWN = 256  # files of messages, the database's connections, children, libraries


def raise_limit() -> int:
    """Raise the soft limit of descriptors to the hard one, which needs no rights; the limit that holds now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _ENOUGH if hard == resource.RLIM_INFINITY else min(hard, _ENOUGH)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return soft if soft != resource.RLIM_INFINITY else _ENOUGH


def available_for_http(limit: int, *, smtp_sessions: int, pool_size: int) -> int:
    """How many HTTP connections `limit` descriptors allow for, beside everything else; at least 16."""
    # An SMTP session may have a spool file beside its socket, and the sandbox takes what the API hands in.
    return max(16, limit - _OWN - 2 * smtp_sessions - 2 * pool_size)
