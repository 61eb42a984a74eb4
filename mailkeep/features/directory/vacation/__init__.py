"""Vacation replies of mailboxes: one automatic reply to each sender within `days`, while active and within the period.

`start_at` and `end_at` are exact times: replies begin with the first and end with the second. The mailbox's `time_zone`
is only for display.

A reply is an RFC 5230 vacation action in a Sieve script that Mailkeep writes (`mail/sieve/vacation`) and Dovecot takes
from the database at each delivery (`mta_sieve_scripts`), after the spam filter's script and before the owner's: a
change applies to the next message, no client sees the script, and the owner's script runs as without it. If the owner's
script replies too, only one reply is sent. Replies need Dovecot: in the embedded profile an active vacation is refused
(UNAVAILABLE `needs_full_profile`); an inactive one can be stored.

Nobody gets a reply to spam, to mail of lists and programs (RFC 3834), to a message that is not addressed to the mailbox
or one of its aliases, or if the sender is not authenticated (`mailflow/local_delivery`). A changed text is a new reply
for every sender. A mailbox that only forwards its mail (`keep_copy` false) sends no replies; the response warns.

A caller of lower rank can't change the vacation of a mailbox that belongs to an administrator.
"""
