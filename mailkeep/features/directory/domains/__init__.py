"""Domains: the mail domains that this server manages.

A name is an IDNA2008 domain name of at least two labels. It is unique and never changes. An inactive domain keeps all
its data, but its mail is deferred (450), and nothing can be sent from it or created in it. `sending_enabled` and
`receiving_enabled` switch off one direction permanently (DOMAIN_INACTIVE with reason `sending_disabled`; 550 5.7.1).

`max_mailboxes` and `max_aliases` (null: unlimited) apply to new mailboxes and aliases only. `default_quota_bytes` is
the quota of a mailbox that is created without one; 0 is unlimited. `plus_delimiter` separates a tag from the local part
(`alice+news`); null switches tags off.

Creating a domain creates its first DKIM key in the same transaction. A domain can be deleted when it has no mailboxes
and no aliases; its mailboxes in the trash, its assignments to administrators, its suspensions and its DKIM keys are
deleted with it.
"""
