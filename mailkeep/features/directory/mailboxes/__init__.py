"""Mailboxes: addresses with mail on this server, their passwords, quotas, protocols and forwards.

An address is unique among the mailboxes that are not in the trash. An alias may have the same address; the mailbox
takes precedence. A local part may contain the domain's plus delimiter: such a mailbox is the exact match for its
address, which then is not a tag of the shorter name. Mail is stored under the mailbox's id, never under its name, so a
mailbox with a reused or changed address (`local_part`, `domain_id`) contains only its own mail.

A password is stored as Argon2id in Dovecot's format; `password_hash` accepts any scheme of Dovecot 2.3, for migrations.
Neither is ever returned. A mailbox created with an invitation (`access/invitations`) has no password, and nobody can
sign in, until its owner sets one. `quota_bytes` 0 is unlimited; a mailbox created without it gets the domain's default.

`forward` sends mail on to at most ten addresses; with `keep_copy` the mailbox gets it too. A forward that leads back to
its mailbox is refused (`alias_loop`), under the lock that all writers of aliases and forwards take.

`send_as` lists further addresses, or whole domains, from which a mailbox may send; whoever adds one must be allowed to
change mailboxes of its domain, which must be active. An entry belongs to the domain, not to its name, and is deleted
with it. It is checked at each message (the function `sender_logins`): the domain is active, and the address does not
belong to an administrator of higher rank than whoever added the entry (FORBIDDEN for a single address).

A deleted mailbox stays in the trash for 30 days: its address is free at once, its mail is kept, and it can be restored
if the address is still free and the domain's limit allows it. After that, or at once with `purge`, it is deleted; its
folder is removed after the commit, with retries until that succeeds.

Whoever may not undo an incident about a mailbox (`mailflow/incidents`), or raise its thresholds, can't delete it or
change its address either: a new mailbox with the address would be free of that. A suspension stays with the address, so
who may not lift it can delete the mailbox, but not change its address.

In the embedded profile, `used_bytes` and `message_count` are counted at delivery; in the full profile
`directory/mailbox_usage` keeps them.

Its owner may sign in (`directory/owners`). A new password, deactivation, deletion or another address ends the owner's
sessions.

A mailbox belongs to the administrator whose email is its address. A caller of lower rank can't change its password,
app passwords, protocols, address, forward, `send_as` or whether it is active, can't suspend or delete it, and can't
create one with that address.
"""
