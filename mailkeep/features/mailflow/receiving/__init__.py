"""Receiving: from the routing of a recipient to its mailbox, the history and external copies.

The routing function decides on a recipient at RCPT. The built-in listener writes an accepted message to the Maildir of
each mailbox (with fsync), then records it in the history with its `mail.received`, unique by (queue ID, mailbox).
External copies are queued in the same transaction and submitted to the MTA later. Only then is the reply 250. While the
database is away the reply is 451, before anything is delivered; after a crash the same queue ID creates no second copy
and no second event.

A mailbox is full if its quota has no room for the message: 452 at RCPT if the usage or the declared size shows it, else
at the end of the data; 552 for a message larger than the whole quota. If the message has other mailboxes, the full one
is skipped and gets a row in the history.

Thresholds and lists decide for each copy (`filters`): a denied sender or network is refused at RCPT, a denied author at
the end of the data if every copy is refused, else the copy goes to the Junk folder (`.Junk`, Maildir++) with
`mail.spam`. The only score is that of the GTUBE string. Spam is not forwarded. Verdicts of others are removed.

`mail.received.full` is created if a webhook subscribes to it (SQL function `publishes_full_mail`): a separate process
parses the message, within limits. If that fails, the event has the header and `parse_error`. The list of events shows
it without content, which is stored once for each message for 3 days.

Recipients refused at SMTP are in the history too: at most 60 a minute for one client; further ones are only counted.
"""
