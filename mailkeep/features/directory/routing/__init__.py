"""Routing: where mail for an address goes. One SQL function (`route_address`) answers all who ask.

In a managed domain that is active and receives, what matches first answers:

1. a mailbox with exactly this address,
2. an alias with exactly this address,
3. the mailbox, then the alias, whose name is the local part without its `+tag` (docs/decisions/0003),
4. the domain's catch-all,
5. of `postmaster` and `abuse` the domain's administrators, else the super_admins (RFC 5321 §4.5.1, RFC 2142), at those
   of their addresses that mail can be delivered to. A deactivated mailbox or an alias that leads nowhere does not stop
   this step. `postmaster` without a domain, and both at `server.hostname`, are the super_admins'.

Local parts compare folded (`core.address.fold_local`). What is in the trash and inactive aliases do not exist. A
deactivated mailbox still answers for its address, by refusing: its mail goes to nobody else.

An alias is followed to the end, over managed domains and through the forwards of mailboxes, each source once, so that
no loop holds it. What comes out are mailboxes (once each, with the tag in the address) and addresses outside. What
leads nowhere is dropped with a warning while something is left. A mailbox that forwards without keeping a copy keeps
it all the same when nothing is left.

Decisions, and what SMTP answers:

- `deliver`: 250
- `unknown_user`: 550 5.1.1; nothing matches, or all that the match leads to is a dead end
- `mailbox_inactive`: 550 5.2.1
- `receiving_disabled`: 550 5.7.1; the domain takes no mail
- `domain_inactive`: 450; the domain is deactivated, or what is left stands in one that is
- `no_administrator`: 451 4.3.5; postmaster or abuse, and no administrator has an address that receives mail: it is
  never unknown, the sender tries again, and `explain` says why
- `expansion_limit`: 550 5.7.1; more than `limits.external_expansion` external destinations
- `too_many_destinations`: 550 5.7.1; more than 1,000 destinations of all kinds
- `not_managed`: 554 5.7.1; not ours, and nothing is relayed

At RCPT two more follow from the room in mailboxes (`service.recipient`), where no destination has any:

- `mailbox_full`: 452 4.2.2
- `message_too_large`: 552 5.2.2; the message is larger than the whole quota

An explanation tells a caller the insides of its own domains only: what lies behind an address in a foreign domain
shows as that address.
"""
