"""The limit of file descriptors, and how many of them HTTP clients can use."""

from __future__ import annotations

import resource

_MAX_LIMIT = 1 << 20
_RESERVED = 256  # message files, database connections, children, libraries


def raise_limit() -> int:
    """Raise the soft limit of descriptors to the hard one, at most 2^20; returns the new limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = _MAX_LIMIT if hard == resource.RLIM_INFINITY else min(hard, _MAX_LIMIT)
    if soft != resource.RLIM_INFINITY and soft < limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
        return limit
    return soft if soft != resource.RLIM_INFINITY else _MAX_LIMIT


def available_for_http(limit: int, *, smtp_sessions: int, pool_size: int) -> int:
    """The number of HTTP connections that `limit` descriptors allow, at least 16."""
    # An SMTP session may use a socket and a spool file. A message from the API may use a session of the sandbox.
    return max(16, limit - _RESERVED - 2 * smtp_sessions - 2 * pool_size)
