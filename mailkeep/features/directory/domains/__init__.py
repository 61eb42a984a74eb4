"""Domains: the mail domains that this server manages.

A name is an IDNA2008 domain name of at least two labels. It is unique and never changes. An inactive domain keeps all
its data, but its mail is deferred (450), and nothing can be sent from it or created in it. `sending_enabled` and
`receiving_enabled` switch off one direction permanently (DOMAIN_INACTIVE with reason `sending_disabled`; 550 5.7.1).

`max_mailboxes` and `max_aliases` (null: unlimited) apply to new mailboxes and aliases only. `default_quota_bytes` is
the quota of a mailbox that is created without one; 0 is unlimited. `plus_delimiter` separates a tag from the local part
(`alice+news`); null switches tags off. An administrator of lower rank can't change it (FORBIDDEN `higher_rank`) while
the domain or one of its alias domains has the address of an administrator, whose tags would then be free for others.

An alias domain (`alias_of`: another domain) has no mailboxes and aliases of its own (CONFLICT `alias_domain`): its
addresses are routed as those of its target, whose users may send from them. It has its own DNS records, DKIM keys,
relay and administrators. Limits of sent and forwarded mail count for the target. A target is never an alias domain
itself (CONFLICT `alias_chain`), and is not deleted while it has alias domains. Only administrators that may change both
domains set `alias_of`; it changes with the lock of all aliases and forwards, and is refused if it closes a loop of them
(`alias_loop`). An administrator of lower rank can't change it (FORBIDDEN `higher_rank`) while the domain has the
address of an administrator, whose mail would then go elsewhere.

`mta_sts_mode`: see `mta_sts`.

Creating a domain creates its first DKIM keys in the same transaction. With `dkim_delegated` new keys get fixed
selectors, whose records are CNAMEs to names of the server (`dkim`); that needs `server.hostname` (CONFLICT
`hostname_missing`). With `dns_managed`, which only a super_admin changes, Mailkeep writes the domain's DNS records
(`dns_updates`). A domain can be deleted when it has no mailboxes,
no aliases and no alias domains; its mailboxes in the trash, its assignments to administrators, its suspensions, its
DKIM keys and the permissions to send as its addresses are deleted with it.
"""
