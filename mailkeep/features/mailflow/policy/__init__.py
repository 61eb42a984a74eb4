"""What Postfix asks before it accepts a message: submission, recipients with external copies, and senders to rewrite.

**Submission** (ports 587 and 465). The counters, thresholds and suspensions are those of the API (`mailflow/abuse`).
They are checked at the end of the message, when the number of recipients is known. The envelope is stored for the
history (`mailflow/delivery_status`); its recipients were collected at RCPT, because the last request has their number
only. A session whose login has lost its access since (`directory/mailbox_sessions`) is disconnected at its next
message: the login name carries the version of the access (`mail/postfix/submission_login`).

**External copies.** On every port Postfix asks about recipients whose aliases or forwards lead outside (policy context
`expanding`), and about every recipient of mail that Sieve redirects (context `redirect`). At RCPT the limits of
expansion and the counter of forwarded copies are checked; the copies are counted at the end of the message. The rules
are in `mailflow/receiving`.

**Rewritten senders** (`mail/message/srs`). Mail of other servers with external copies leaves with a rewritten sender.
The policy server writes it to a header field (PREPEND); the filter's milter removes the field and changes the sender.
Mail for mailboxes only keeps its sender. Bounces find the original sender by the tables of a second socket.
"""
