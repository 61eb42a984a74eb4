"""API keys: what programs show instead of a session.

A key acts for the administrator who owns it, with the rights that this one has at the moment; a scope narrows it to
some domains, and a scope whose domains are all gone reaches nothing. `svc_sk_` and 43 random characters; only the
SHA-256 is stored, the key itself is answered once.

A key may make keys unless it is scoped. Such a child is never longer-lived, faster or usable from more networks than
its parent, and goes with it. In any 60 seconds at most `rate_limit` requests are accepted: the window slides in steps
of a second. One statement counts and authenticates: all processes share the count, and it belongs to no transaction of
the request. The hashes of revoked keys are kept, so that whoever shows one is told (`details.reason` revoked).
"""
