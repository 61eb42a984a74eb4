"""Checks of DNS records: of each domain, and of the server.

Each record of `directory/dns` is looked up at every name server (`dns.servers`), hourly and on request, and judged in
words. SPF is evaluated for the server's addresses. Of the server also its addresses in blocklists are checked. Without
`server.hostname` nothing is looked up: the records say that it must be set.

A record is right if all name servers that answered say so. One that only some of them see is a `mismatch` that does not
count as a failure: it is not visible everywhere yet. No answer at all is `dns_error`, which says nothing:
the status stays as it was. So a server without a network reports no failures.

The status of a domain: `failing` if a required record is missing or wrong; `attention` if there is something to do, but
mail works; else `ok`. Events report changes between failing and not failing, after two checks that agree,
`dns.confirm_seconds` apart; a domain whose records were never right does not fail. Event, state and results are written
in one transaction, which only the worker with the check's current claim can make.

Workers claim due checks with a lease. A budget in the database (`dns.lookups_per_second`) limits the look-ups of all
workers together, and so spreads checks that are due at the same time. Requested checks come first, and use the budget
in advance, up to 30 seconds.
"""
