"""Abuse: how much a sender may send, and addresses whose sending is suspended.

Recipients are counted per rolling hour, for each sender address and for each domain, over every way of sending
(`count_sends` in the database is the one place that counts). A message that would take the sender beyond
`abuse.sender_per_hour` is refused (429 RATE_LIMIT_EXCEEDED, `sender_rate`) and its sender is suspended: the next
attempt is MAILBOX_SUSPENDED. A message that would take the domain beyond `abuse.domain_per_hour` (`domain_rate`), and
one that is above a threshold all by itself (`message_above_threshold`), is refused only. The count is exact however
many calls come at once. It is kept by the minute: a recipient leaves it after 60 to 61 minutes, so that in no hour
more than the threshold goes out. What is refused does not count, nor what was certainly not submitted.

An address with a tag counts for the mailbox that answers for it, and is suspended with it; what a mail program hands in
counts for the mailbox that logged in, whichever of its addresses it goes out under. A suspension of just that address
holds as well. By the API, who is behind an alias is not known: it counts for itself.

The external recipients that aliases, forwards and Sieve redirects lead to are counted for the domain whose address has
received the mail, in a counter of its own (`abuse.forward_per_hour`). It is asked at RCPT and charged when a message is
accepted: a message beyond it is deferred (450 4.7.1; by the API 429 `forward_rate`). Aliases and forwards add at most
`limits.external_expansion` external recipients to one message.

A suspension is a row on a sender address, whether or not it has a mailbox; it holds for every way of sending
(403 MAILBOX_SUSPENDED) and is shown on the mailbox. It goes with its domain, not with its mailbox: an address
that is given out anew is still suspended. Lifting it starts the sender's count anew.

Who suspends an address that is suspended already takes the suspension over, unless the rules or a higher rank
hold it: then it stays as it is. A suspension that the rules or an admin set is lifted by admins only. Nobody
suspends or frees the mailbox of a higher-ranked administrator.
"""
