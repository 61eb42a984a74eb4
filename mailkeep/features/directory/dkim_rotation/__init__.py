"""The life cycle of DKIM keys: the API of a domain's keys, and their automatic rotation.

A new key is `pending` until every configured name server finds its record; then it can be activated. The active key of
the same family (RSA or Ed25519) becomes `retiring`: it no longer signs, but mail that it signed may still be in the
queue, so its record must stay. After the longest time in the queue (`outbound.give_up_hours`, the last retry and an
hour for the receiver) it is `retired`: its private key is erased, and its record can be removed. A retiring key can be
activated again. A retired key is deleted after a year.

Rules: the last active key of a domain can't be retired; an active or retiring key can't be deleted; a domain has at
most 10 keys that are not retired. All changes lock the domain, so that concurrent ones see each other.

Rotation (`dkim.rotate_days`, 0: off): when an active key is that old, the worker generates the next key of its family,
asks for the publication of its record (event `domain.dkim_due`, mail to the domain's administrators, at most four times
in a month), looks for it with growing pauses, and activates it. The old key signs until then, however long that takes.
Keys that an administrator has created are activated by an administrator only. If Mailkeep publishes the record itself
(`dns_managed`, or delegated to a server with `dns.manage_server`), nobody is asked unless that fails for a day.

Each step is one transaction with a fencing token: a killed worker's step is repeated by another, and counts once.
"""
