"""Junk: what the filter filed in the folder Junk of a mailbox or refused, the release to the inbox, and digest mail.

There is no separate quarantine (docs/decisions/0095): the history lists this mail with the rule that decided. Mail in
Junk can be released while its copy is still there; of refused mail the server keeps nothing but the history.

A release moves the copy to the inbox, teaches the filter that it is not spam (`filter_training`), and can add its
author to the mailbox's allow list. In the full profile the process `node` finds and moves the copy with doveadm
(`jobs`, `mail/dovecot/copies`), one after another, so that a repeated or concurrent release moves nothing. A copy that
its owner has moved to another folder or deleted is left alone (CONFLICT). In the embedded profile it is a file of the
Maildir.

A digest lists what came since the last one, at 7 o'clock (the server's time zone; weekly ones on Mondays), if the
mailbox's effective `digest` is on and there is anything; not mail from denied senders. A worker queues the digests of
100 mailboxes in one transaction, together with what each has covered (`junk_digests`): each period leaves once, with
any number of workers, and after a crash. If the server was down at that hour, they leave before 20 o'clock or on the
next day. The mail is one of `record/system_mail`.
"""
