"""Sends scheduled messages when they are due, and changes and cancels them before.

A worker claims messages when they are due, in groups of one creator, and sends each group as a batch
(`sending.send_due`). Its attempt is a transaction that checks the claim and the limits, and sets the message to
`submitting`; from then on it can't be changed or cancelled, and no other worker can claim it. Results are recorded as
those of any send, and end the jobs of accepted messages in the same commit. What a crash leaves is ended by
`sending.jobs.reconcile` from the sandbox or Postfix's log: accepted, or `lost`, which is sent again.

The creator's rights, the domain, the recipients and the limits are checked again:

| | |
|---|---|
| refused (rights, domain, too many recipients, …) | `mail.failed` with the reason: `permission`, `domain_inactive`, … |
| over a limit, or the sender is suspended | it waits, and nobody is suspended |
| refused by the MTA for now, or it did not reach the MTA | it waits: 5 seconds, then longer, up to 15 minutes |
| refused by the MTA permanently | `mail.failed`, `reason` refused |
| waited for 5 days after its time | `mail.failed` |

With a smarthost a submission may end `unknown`: it is not repeated, and has no event.
"""
