"""Receiving: from the routing of a recipient to the mailbox, the history and what is passed on.

A recipient is judged at RCPT by the routing function. A message that was taken is brought to each mailbox's Maildir
and synced there, then filed in the history with its `mail.received`, unique by (queue id, mailbox); copies for the
outside are queued in the same transaction and handed to the MTA later. Only then is 250 answered. With the database
away the answer is 451, before anything was delivered; where a crash comes in between, the same queue id makes no
second copy and no second event.

What was refused at SMTP stands in the history too: at most 60 rows a minute for one source, the rest only counted.
"""
