"""The one way out of this product over HTTP: identity providers and webhooks go through it.

A URL that a stranger may have chosen must not reach what only this machine can see. So a host is resolved once, every
answer is held against a table of special-purpose networks, and the connection goes to the address that was checked:
there is no second look-up in which a name could have moved. Unless a network is allowed by the settings, nothing is
reached but global unicast addresses.

- `target`: a URL, taken apart strictly; what browsers and resolvers read differently is refused.
- `guard`: the table, and hosts in each of their spellings.
- `resolver`: the addresses of a host, by `dns.servers` or by the system.
- `client`: `Outbound`, one a process, in `App.outbound`; `send` takes an `OutboundRequest`, answers an
  `OutboundAnswer` (whatever its status: a redirect is an answer and is never followed) or raises `OutboundFailed`.
- `connection`: connections that are aborted, not closed, when an attempt ends, and that read no more than an answer may
  have; `mailkeep listen` uses them as well.

No proxies, cookies, redirects or decompression; nothing is read from the environment. TLS (1.2 or newer) is verified by
the host's name, also where the connection goes to a pinned address; an authority may be added for one request.

Connections are kept for the next request to the same address, port, name and authorities for 15 seconds, and only
serve a request whose own look-up has led to that very address under its own rules. No more than 512 are in use at a
time, 64 of these to one address and name (a request beyond waits, within its own timeout); no more than 128 such
endpoints keep idle ones.
"""
