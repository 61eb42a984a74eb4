"""Mail that Mailkeep itself writes: queued in the transaction of the change that it reports, and written in one place.

A row of `system_mail` is the record of a mail to one recipient and its job: it exists if and only if the change was
committed. `mailflow/system_mail_delivery` composes, signs and submits it, and repeats that until the mail server has
it: a crash may send it twice, but never loses it. A row is kept for a day.

A recipient gets at most 5 mails of a kind within an hour. Further items of the kind are collected for 10 minutes and
leave as one mail, which lists the first 50 and says how many more there were. So a flood of changes neither fills a
mailbox nor hides a change. Super administrators get mail about changes and restores (`notify_super_admins`), owners
of mailboxes when theirs are almost full (`notify_owner`), and digests of Junk (`notify_owners`).

The mail with an invitation has limits of its own: 20 an hour for the accounts of a domain, 3 a day to a recipient; more
are refused. Its row has the invitation's ID; the link is only in the mail, whose content the history does not keep.

The texts are in `texts`: plain text, which contains no text of users except addresses, and no text of strangers but in
the digests of Junk (`junk_digest`), where nothing of it is a link, and in the reasons of alerts, on a line of its own.
"""
