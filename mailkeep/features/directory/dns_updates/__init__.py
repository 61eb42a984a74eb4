"""DNS updates: Mailkeep writes DNS records by itself (`dns.provider = rfc2136`, `net/dns_update`).

It writes the records of domains that a super_admin has marked `dns_managed`, as far as they are in the domain, and
with `dns.manage_server` the TXT records of the server's host name: its SPF record, its DKIM keys, and the keys of
domains with `dkim_delegated`. Addresses (A, AAAA, PTR) are never written.

Only Mailkeep's own records are touched. It remembers which ones it has written, and removes them when they are no
longer needed. A record that is there already is `present` and stays. Where others have published another value (MX, an
SPF record, a record at a name like `_dmarc`), nothing is written: `conflict`, with the reason in words. Each change has
prerequisites, so that a record which appears between the look-up and the change is not touched either.

Each domain and the host name is a job. It is due when its keys or fields change (a trigger), and every hour; after an
error with growing pauses, at once when settings of DNS change. A record is noted before it is written: after a crash
the next attempt knows it as Mailkeep's own.
"""
