"""Answers Postfix's policy requests: may a client submit, may a recipient have external copies, is a sender rewritten.

**Submission** (ports 587 and 465). The counters, thresholds and suspensions are those of the API (`mailflow/abuse`).
They are checked at the end of the message, when the number of recipients is known. The envelope is stored for the
history (`mailflow/delivery_status`); its recipients are collected at RCPT, because the last request has only their
number. If a login loses its access (`directory/mailbox_sessions`), its session is disconnected at the next message: the
login name contains the version of the access (`mail/postfix/submission_login`).

**Submission with an API key** (user `apikey`, login `key:ID`; `mailflow/key_senders`). The envelope sender is checked
at the first recipient and at the end of the message, which counts for the key's rate and, as by API, for its sender. A
session whose key has ended gets 421 and is disconnected.

**External copies.** On every port Postfix sends a request for recipients whose aliases or forwards lead to other
servers (policy context `expanding`), and for every recipient of mail that Sieve redirects (context `redirect`). At RCPT
the limits of expansion and the counter of forwarded copies are checked; the copies are counted at the end of the
message. The rules are in `mailflow/receiving`.

**Deny entries.** On port 25 Postfix sends a request for recipients to whom a deny entry may apply (context `denying`);
`mailflow/verdicts` decides.

**Rewritten senders** (`mail/message/srs`). Mail of other servers with external copies leaves with a rewritten sender.
The policy server writes it, with the domain that forwards, to a header field (PREPEND); Rspamd's milter removes the
field, changes the sender and seals the message for the domain (ARC). Mail that goes only to mailboxes keeps its sender.
Postfix finds the original sender of a bounce through the lookup tables of a second socket.
"""
