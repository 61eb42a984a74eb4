"""API keys: how programs authenticate instead of with a session.

A key acts for the administrator who owns it, with that account's current rights. A scope restricts it to some domains;
if all of them are deleted, it has no access. A key is `svc_sk_` and 43 random characters; only its SHA-256 is stored,
and the key itself is shown once.

`permissions` narrow it further: `sending` sends and sees its own messages, `read` changes nothing. A key may create
keys unless it is scoped or narrowed. Such a child can't expire later or have a higher rate limit or more networks
than its parent, and is revoked with it. In any 60 seconds at most `rate_limit` requests are accepted; the window slides
in steps of a second. One statement authenticates the key and counts the request, outside the request's transaction; all
processes share the count. The hashes of revoked keys are kept, so that a request with one gets `details.reason`
revoked.
"""
