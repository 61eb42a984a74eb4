"""Bulk operations: up to 1,000 mailboxes or aliases are created, changed or deleted by one call, and exported as CSV.

A call is stored as an operation with its items, and a worker carries them out one after the other. Each item is a
transaction of its own: it does what the single call does (checks, audit entry, limits), and its result is written in
the same transaction. So nothing is half created, and nothing is done twice: after a crash another worker continues
with the first item that has no result. Operations of one account run in the order of their calls.

An item is authorised when it is carried out, with the permissions that its creator has then (T53 of the threat model).
Items are kept sealed with the master secret, because they contain passwords, and are deleted when they are done;
results are kept for seven days. Passwords are hashed at a lower priority than those of logins.

Items name what they change by `id`, or by `address` (mailboxes), or by `domain` and `source_local_part` (aliases);
new ones may be named so too. In CSV the columns have the same names, and an empty cell is an absent field.

A dry run carries out each item and rolls it back. It also finds items that take the same address, and limits that are
exceeded by the items together; a chain of two new aliases is found only when they are created.
"""
