"""All outbound HTTP: webhooks and OpenID Connect.

A URL may be chosen by a user, and must not reach internal services (SSRF). So a host is resolved once, every address is
checked against a table of special-purpose networks, and the connection goes to the checked address: a second look-up
could return another one (DNS rebinding). Only global unicast addresses, and networks allowed in the settings, are
reachable.

- `url`: strict parsing of URLs; URLs that browsers and resolvers interpret differently are rejected.
- `guard`: the table of special-purpose networks, and the parsing of hosts.
- `resolver`: the addresses of a host, from `dns.servers` or the system.
- `dns_query`: what each of the configured name servers answers to a query.
- `dns_update`: changes of a zone by DNS UPDATE (RFC 2136), signed with TSIG.
- `client`: `OutboundClient`, one per process, in `App.outbound`. `send` takes an `OutboundRequest` and returns an
  `OutboundResponse` with any status (redirects are not followed), or raises `OutboundError`.
- `connection`: connections that limit what a server may send, and are aborted instead of closed; also used by
  `mailkeep listen`.
- `mta_sts`: policies of MTA-STS, fetched from other servers.
- `openid`, `openid_token`: a relying party of OpenID Connect.

There are no proxies, cookies, redirects or decompression; nothing is read from the environment. TLS (1.2 or newer) is
verified against the host's name although the connection goes to an address; a request may trust an additional CA.

Idle connections are kept for 15 seconds for requests to the same address, port, name and CAs; each request still does
its own look-up and checks. At most 512 connections are in use, 64 of them to one address and name; further requests
wait within their own timeout. Idle connections are kept for at most 128 such endpoints.
"""
