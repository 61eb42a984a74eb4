"""Routing: where mail for an address is delivered. One SQL function (`route_address`) decides for all callers.

A bounce address (`mail/message/bounce_address`) comes first, also in a domain that is inactive or receives no mail:
reports about mail of the domain arrive there. An address of its form that is no bounce address is unknown.

In a managed domain that is active and receives mail, the first match in this order decides:

1. a mailbox with exactly this address,
2. an alias with exactly this address,
3. the mailbox, then the alias, whose name is the local part without its `+tag` (docs/decisions/0003),
4. the domain's catch-all,
5. for `postmaster` and `abuse` the domain's administrators, else the super_admins (RFC 5321 §4.5.1, RFC 2142), at those
   of their addresses that can receive mail. An inactive mailbox or an alias that leads nowhere does not prevent this
   step. `postmaster` without a domain, and both at `server.hostname`, go to the super_admins.

An address in an alias domain is routed as the same address in its target, at whatever place it occurs; both domains
must be active and receive mail. So the rules apply to both alike: its postmaster is that of the target.

Local parts are compared folded (`core.address.fold_local`). Mailboxes in the trash and inactive aliases are ignored. An
inactive mailbox still matches its address and refuses its mail: nobody else gets it.

Aliases are followed to the end, across managed domains and through the forwards of mailboxes, each source once, so that
loops end. The result is a list of mailboxes (each once, with the tag in the address) and external addresses.
Destinations that lead nowhere are dropped with a warning if others remain. A mailbox that forwards without keeping a
copy keeps one if nothing else remains.

Decisions, and the SMTP reply:

- `deliver`: 250
- `bounce`: 250; a bounce address, no delivery
- `unknown_user`: 550 5.1.1; nothing matches, or the match leads nowhere
- `mailbox_inactive`: 550 5.2.1
- `receiving_disabled`: 550 5.7.1; the domain receives no mail
- `domain_inactive`: 450; the domain, or that of all remaining destinations, is inactive
- `no_administrator`: 451 4.3.5; no administrator for postmaster or abuse has an address that receives mail: these
  addresses are never unknown, the sender retries, and `explain` gives the reason
- `expansion_limit`: 550 5.7.1; more than `limits.external_expansion` external destinations
- `too_many_destinations`: 550 5.7.1; more than 1,000 destinations of all kinds
- `not_managed`: 554 5.7.1; not a domain of this server, which does not relay

At RCPT there are two more (`service.route_recipient`), when no destination has room:

- `mailbox_full`: 452 4.2.2
- `message_too_large`: 552 5.2.2; the message is larger than the whole quota

An explanation shows a caller details of its own domains only. For an address in another domain it shows the address,
not where that leads.
"""
