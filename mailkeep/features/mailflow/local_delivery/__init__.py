"""Local delivery: Postfix's LMTP deliveries are passed on to Dovecot and recorded in the history with their events.

A message has its queue ID (XFORWARD IDENT) and, for each recipient, the original address before aliases (ORCPT). Its
mailboxes are looked up after the data is read: while the database is away the reply is 451, before Dovecot has
anything. Dovecot gets the message once for each mailbox, however many recipients lead there, in one transaction for
all mailboxes with the same verdict; these follow one another, each recorded before the next. What Dovecot accepts is
recorded: history, `mail.received`, `mail.spam`, `mail.received.full`. Each recipient gets Dovecot's reply after that
commit. Concurrent messages are recorded by one transaction.

There is exactly one event and one copy for each (queue ID, mailbox), also after crashes and retries. A recorded message
is not delivered again (`inbound_claims`). Each delivery has its ID in the field X-Mailkeep-Delivery; the field is
removed from incoming mail. A delivery whose result is not known (the agent was killed, Dovecot or the database went
away) is in the journal. When it is retried, the field says so; Dovecot then searches the mailbox for the first copy and
drops the second (Sieve, `bin/delivered`; docs/decisions/0026).

Score and authentication results of the sender (SPF, DKIM, DMARC, `from`) are read from fields that Rspamd sets, and
removes from incoming mail. Each mailbox's thresholds and lists decide between inbox and Junk (`mailflow/filtering`); a
refusal means Junk, since Postfix would send a bounce. The agent replaces Rspamd's fields by X-Spam (Junk only) and
X-Mailkeep-Verdict. If one copy is not for the inbox, external copies arrive here too (`mailflow/external_copies`). A
sender rewritten for forwarding (SRS) is restored for mailboxes.

Mail whose sender passed SPF or DMARC, and mail of this server, uses a separate Dovecot service: only these senders get
Sieve's vacation replies and rejections (docs/decisions/0033).

Usage is reported when Dovecot accepts a message (`directory/mailbox_usage`); deliveries do not wait for it.

A full mailbox is refused at RCPT. If the limit is exceeded after that, or the mailbox is removed, mail of another
server ends here: 250, with a row in the history (rejected), since a bounce could go to a forged sender. For mail of
this server Dovecot's rejection (552 5.2.2) is the recipient's status. Without a sender it is retried while the mailbox
is full (452 4.2.2), for as long as Postfix retries: a bounce would reach nobody.

A message to the probe's mailbox (`mail/daemons/probe_mailbox`) is passed on and not recorded.
"""
