"""Receiving: from the routing of a recipient to the mailbox, the history and what is passed on.

A recipient is judged at RCPT by the routing function. A message that was taken is brought to each mailbox's Maildir
and synced there, then filed in the history with its `mail.received`, unique by (queue id, mailbox); copies for the
outside are queued in the same transaction and handed to the MTA later. Only then is 250 answered. With the database
away the answer is 451, before anything was delivered; where a crash comes in between, the same queue id makes no
second copy and no second event.

A mailbox is full when its quota has no room for the message: 452 at RCPT where the usage or the declared size shows
that, else at the end of data; 552 for a message that is larger than the whole quota. It is passed over, with a row in
the history, while the message has another place.

The built-in verdict knows one kind of spam, the GTUBE string: such mail goes to the mailbox's Junk folder (`.Junk`,
Maildir++) and is told as `mail.spam` too. X-Spam fields that a message brings along count for nothing.

`mail.received.full` is made while somebody wants it (`wants_full` in the database): the message is taken apart in
another process, within limits, and told whole; where that fails it is told by its head, with `parse_error`. The feed
shows it without content, which is kept once a message for 3 days.

What was refused at SMTP stands in the history too: at most 60 rows a minute for one source, the rest only counted.
"""
