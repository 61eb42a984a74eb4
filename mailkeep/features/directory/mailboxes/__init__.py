"""Mailboxes: who has mail here, with which password, quota and protocols, and where their mail is forwarded.

An address is unique among the mailboxes that are not in the trash; an alias may share it (the mailbox wins).
A local part may hold the domain's plus delimiter: such a mailbox is the exact match for its address and takes
it from the tags of the shorter name. Mail lies under the mailbox's id, never its name: who gets an address
again, or by a change of `local_part` or `domain_id` another one, finds only its own mail.

A password is stored as Argon2id in Dovecot's format; `password_hash` takes any scheme that Dovecot 2.3 knows,
to migrate with. Neither is ever answered. `quota_bytes` 0 is no limit; absent, it is the domain's default.

`forward` sends mail on to at most ten addresses, with `keep_copy` also into the mailbox. A forward that would
lead back to its mailbox is refused (`alias_loop`), under the one lock that all writers of aliases and
forwards take.

A deleted mailbox lies in the trash for 30 days: its address is free at once, its mail is kept, and it can be
restored while the address is still free and the domain has room. Then, or at once with `purge`, it is gone;
its folder is removed after the commit, and again until that succeeds.

The usage of a mailbox (`used_bytes`, `message_count`) is updated as mail arrives in the embedded profile; in the full
profile it is `directory/mailbox_usage`.

A mailbox belongs to the administrator whose email is its address. Who ranks lower neither changes its
credentials, state, address or forward, nor suspends or deletes it, nor makes one at that address.
"""
