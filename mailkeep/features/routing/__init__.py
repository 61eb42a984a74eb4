"""Routing: where mail for an address goes. One SQL function (`route_address`) answers all who ask.

In a managed domain that is active and receives, what matches first answers:

1. a mailbox with exactly this address,
2. an alias with exactly this address,
3. the mailbox, then the alias, whose name is the local part without its `+tag` (docs/decisions/0003),
4. the domain's catch-all.

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
- `not_managed`: 554 5.7.1; not ours, and nothing is relayed

An explanation tells a caller the insides of its own domains only: what lies behind an address in a foreign domain
shows as that address.
"""
