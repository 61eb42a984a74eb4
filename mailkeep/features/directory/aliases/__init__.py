"""Aliases: addresses of a managed domain whose mail is delivered to one or more destinations.

`source_local_part` is unique in its domain, compared folded (`core.address.fold_local`). An empty one is the domain's
catch-all. `destination` is one address or several, separated by commas, trimmed, without duplicates, at most
`limits.alias_destinations`. An alias may have a mailbox's address; the mailbox takes precedence (see `routing` for the
order). Changes apply to the next message; nothing is reloaded.

Aliases do not chain within a domain: a destination must not be the source of another alias of the same domain. This is
refused in both directions (`alias_chain`), whether the new alias leads to an existing one or an existing one leads to
it. A destination leads to the alias with exactly this source, even if a mailbox has the same address, because the
mailbox may be deleted. If nothing matches exactly, it leads to the alias without the tag; if nothing else matches, to
the catch-all.

No alias leads back to itself (`alias_loop`), neither directly nor through other aliases, domains or a mailbox's
forward. Across domains, an alias may lead to an alias.

Both are checked after the write, in its transaction, under the lock that all writers of aliases and forwards take: when
an alias is created, changed or activated. Inactive aliases are ignored; inactive domains and mailboxes count,
because they may be activated again. Removals are never refused: when a mailbox or an alias is deleted, or a domain's
delimiter changes, an address may begin to match another alias. Routing handles the resulting chains and loops, and
reports them.

A destination that leads nowhere (an address of this server that does not exist or does not receive mail) is accepted,
so that a domain can be set up in any order. It is listed in `warnings`, without details of domains that the caller may
not see. `status` says in one text whether mail for the alias reaches anybody; in lists on request (`with_status`), and
only until 5,000 addresses were looked up. For chains and loops, an alias domain of a domain counts as the domain
itself.

The address of an administrator is protected, with or without a tag, also in alias domains: a caller of lower rank can't
create, change or delete an alias for it, and a catch-all last changed by a lower rank does not match it (`route_match`;
except postmaster and abuse). A later promotion does not change aliases.
"""
