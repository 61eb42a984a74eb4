"""Domains: the mail domains that this server manages, and what is allowed in each.

A name is an IDNA2008 name of at least two labels, unique, and never changes. A deactivated domain keeps all
it has: its mail is deferred (450) and nothing is sent or made in it. `sending_enabled` and
`receiving_enabled` bar one direction for good (DOMAIN_INACTIVE with reason `sending_disabled`; 550 5.7.1).

`max_mailboxes` and `max_aliases` (null: no limit) hold for what is made from now on. `default_quota_bytes` is
what a mailbox gets that is made without a quota; 0 is no limit. `plus_delimiter` divides a tag from the local
part (`alice+news`); null switches tags off.

A domain gets its first DKIM key when it is made: key and domain are one transaction. It can be deleted when
no mailbox and no alias is left in it; trashed mailboxes, assignments, suspensions and keys go with it.
"""
