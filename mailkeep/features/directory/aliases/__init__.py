"""Aliases: addresses of a managed domain whose mail goes to one or more destinations.

`source_local_part` is unique in its domain, compared folded; empty it is the domain's catch-all. `destination` is one
address or several with commas between them, trimmed, each once, at most `limits.alias_destinations`. An
alias may share a mailbox's address: the mailbox wins (`features.routing` has the order). Changes hold for the next
message; nothing is reloaded.

Aliases do not chain: a destination may not be the source of another alias of the same domain. Refused from both
sides (`alias_chain`): my destination is a source, my source is a destination. An exact source counts to the letter,
even where a mailbox shares its address, since the mailbox may go. Otherwise what counts is where mail would go: to the
source without the tag when nothing matches exactly, to the catch-all when nothing else answers.

Nothing leads in a circle (`alias_loop`): not to itself, not over several aliases, domains or a mailbox's forward.
Over domains an alias may lead to an alias.

Both are checked after the write, in its transaction, under the one lock that all writers of aliases and forwards
take: on create, on change and on activation. An inactive alias counts as absent; deactivated domains and mailboxes
count, since they may come back. Removing is never refused: where a mailbox or an alias goes, or a domain's delimiter
changes, an address may begin to match another alias. Routing is safe from what comes of that, and tells it.

A destination that leads nowhere is no fault: the domain's mail may be set up in any order. It stands in `warnings`,
as far as it can be told to the caller without telling the insides of foreign domains.

The address of an administrator belongs to its rank, with or without a tag: a lower rank makes, changes and deletes no
alias for it, and a catch-all that a lower rank changed last does not match it (`route_match`; postmaster and abuse
excepted). A later promotion leaves aliases as they are.
"""
