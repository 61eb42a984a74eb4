"""The inbox: mail that Postfix brings by LMTP and Dovecot keeps, filed in the history with its events.

A message comes with its queue id (XFORWARD IDENT) and, for each recipient, the address that was asked for before
aliases (ORCPT). Its mailboxes are looked up once it is read: with the database away the answer is 451, before Dovecot
has anything. Then it is handed to Dovecot, once for each mailbox however many recipients led there, and what Dovecot
took is filed: history, `mail.received`, `mail.spam`, `mail.received.full`. Only after that commit each recipient gets
Dovecot's word. Messages that come at the same time are filed by one transaction.

Exactly one event and one copy for each (queue id, mailbox), over crashes and retries: what is filed already is not
handed over again (`inbound_claims`). Each delivery has its id in the field X-Mailkeep-Delivery, which is ours: one that
comes along is taken out. What was handed over and has no end that is known (the agent was killed, Dovecot or the
database went away) stands in the journal; when it comes again the field says so, and Dovecot looks through the mailbox
for the first copy, and drops the second (Sieve, `bin/delivered`; docs/decisions/0026).

The verdict, and what the sender's authentication came to (SPF, DKIM, DMARC), are the filter's, from fields that the
filter sets, and strips where a sender has put them.
Of spam, Postfix brings the copies for the outside too: they end here, taken (250), since a refusal would make a bounce
to whoever stands as its sender. The sender that was rewritten for the outside (SRS) is the old one again for mailboxes.

Mail whose sender passed SPF or DMARC, and mail of our own, goes to a service of Dovecot's of its own: only to such
senders Sieve's vacation replies and rejections leave (docs/decisions/0033).

What Dovecot took is told at once to who adds it to the mailbox's figures (`run/processes/arrivals`); no delivery waits
for that.

A mailbox without room is refused at RCPT. Where the limit is crossed after that, or the mailbox is removed, another
server's message ends here: 250, with a row in the history (rejected), since a bounce could go to a forged sender. Of
our own mail Dovecot's refusal (552 5.2.2) is the recipient's status.
"""
