"""The audit log: who did what to which object, from where, with what outcome.

A change and its entry are written in one transaction: neither exists without the other. Refused changes of
authenticated callers are entries too (outcome `denied` for 403, `failed` for the rest; 401 and 429 are only counted in
the metrics). A principal gets at most 60 such entries a minute; one entry `denied.summary` counts the rest. Entries
never contain secrets. Stored rows never change: the application's database role may only insert and read. Responses
show `admin_id` as null once that administrator is deleted.

Whoever sees the objects of a domain sees its entries; entries without a domain are visible to admin and super_admin.
Entries of refused calls show only the role and IDs of administrators whom the reader does not see in GET /admins.

The log is tamper-evident. Writing an entry takes no lock. A sealer later covers entries by *seals*, in the order
(transaction, ID), once no older transaction can commit before them. A seal holds the SHA-256 of each of its entries and
of the previous seal, and is signed (Ed25519) with a key derived from the master secret, so that anybody with the public
key can verify the log without the server. The hash of an entry is that of its line in the export: JSON without `seals`,
with sorted keys and no spaces. Verification names every altered, removed and inserted entry. The file `audit-head` in
the data directory holds the newest seal, which reveals if the newest seals were removed. Not detected: changes to the
entries of the last seconds, and changes by somebody who has the master secret.

Retention deletes whole months, once all entries of a month are older than `retention.audit_days`. A seal records each
deletion; the last signed seal before it is kept, and verification starts there.
"""
