"""The audit log: who did what to which object, from where, with what outcome.

A change and its entry are one transaction: neither exists without the other. Refused changes of authenticated
callers are entries too (outcome `denied` for 403, `failed` for the rest; 401 and 429 stand in the metrics only): 60 a
minute for each principal, and beyond that one entry `denied.summary` with their count.
No secret ever enters an entry. The stored row never changes: the application's database role may only insert and
read, and the admin id that is answered is null once that admin is gone.

Whoever sees a domain's objects sees its entries; what belongs to no domain is seen by admin and super_admin. A refused
call shows only the role and the ids of an administrator whom the reader does not see in GET /admins.

The log proves itself. Writing an entry takes no lock; a sealer comes afterwards and covers entries whose
transactions are settled by *seals*, in the order (transaction, id). A seal holds the SHA-256 of each of its entries
and of the seal before it, and is signed (Ed25519) with a key derived from the master secret, so that whoever has the
public key can verify the log without the server. The hash of an entry is that of the line that the export has for
it: JSON without `seals`, with sorted keys and no spaces. What was altered, removed or put in between is named. That
the newest seals were cut off is known by `audit-head`, which stands in the data directory: the newest seal that was
made there. What is not told: entries of the last seconds, and whatever is done by who holds the master secret.

Entries go by whole months, when all of a month is older than `retention.audit_days`. A seal says so first: of what is
gone the last signed head stays, and the rest is verified from there on.
"""
