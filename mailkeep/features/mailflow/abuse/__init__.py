"""Abuse protection: rate limits for senders and domains, and suspended sender addresses.

Recipients are counted per rolling hour, for each sender address and each domain, whichever way the mail is submitted
(`count_sends` in the database is the only place that counts). A message that would exceed `abuse.sender_per_hour` of
its sender is refused (429 RATE_LIMIT_EXCEEDED, `sender_rate`) and the sender is suspended, with an alert
`sender_rate`: the next attempt is refused with MAILBOX_SUSPENDED. A message that would exceed `abuse.domain_per_hour`
of the domain (`domain_rate`), or that alone exceeds a limit (`message_above_threshold`), is only refused. Counts are
exact for concurrent calls. They are stored per minute: a recipient expires after 60 to 61 minutes, so that no hour has
more than the limit. Refused messages and messages that were certainly not submitted are not counted.

A domain or a mailbox may have limits of its own (`mailflow/thresholds`).

An address with a tag counts for its mailbox and is suspended with it. Mail of a mail client counts for the mailbox that
logged in, whatever its sender address; a suspension of just that address also applies. Mail sent by the API under an
alias counts for the alias, since its owner is unknown.

External recipients of aliases, forwards and Sieve redirects are counted for the domain of the address that received the
mail, in a separate counter (`abuse.forward_per_hour`). It is checked at RCPT and charged when a message is accepted; a
message beyond the limit is deferred (450 4.7.1; by the API 429 `forward_rate`). Aliases and forwards add at most
`limits.external_expansion` external recipients to a message.

A suspension belongs to a sender address, with or without a mailbox. It applies to every way of sending (403
MAILBOX_SUSPENDED) and is shown on the mailbox. It is deleted with its domain, not with its mailbox: if a new mailbox
gets the address, it is still suspended. If an admin lifts a suspension, the sender's counters
begin with nothing.

Suspending an address that is suspended already replaces the suspension, unless the abuse rules or a higher rank set it.
Only admins lift suspensions by the abuse rules, by an admin, or that an open incident of an admin wants too. Nobody
suspends or unsuspends the mailbox of a higher-ranked administrator.
"""
