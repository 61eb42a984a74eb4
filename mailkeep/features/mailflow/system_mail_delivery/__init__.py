"""Sends the mail that Mailkeep itself writes (`record/system_mail`).

From is `postmaster@` the server's host name (`server.hostname`, else the system's; `localhost` if it can't be part of
an address). The envelope sender is null, so that nobody replies automatically (RFC 3834). A bounce would reach nobody:
if a mailbox here is full, the mail waits as long as Postfix retries deliveries, and if it is not delivered, there is an
alert (`system.alert`). Mailkeep signs the mail: with the keys of the host name if that is a managed domain, else with
the host name's own key, which `mailkeep dns --server` shows. A name without a
dot has no DNS records, so its mail is not signed.

In the full profile the process `reinjection` submits it to Postfix's service `system`, which uses no filter: the mail
leaves while Rspamd is down. In the embedded profile it takes the way of all sends: sandbox or `mta.host`. A submission
that fails is repeated after 5 seconds, then after growing pauses, for as long as Postfix retries deliveries
(`outbound.give_up_hours`); without a mail server (`mta.mode` none) it waits as long. A repeated mail has the same
Message-ID. No mail is sent to an address `@localhost`, such as that of the first administrator; only the sandbox, where
all mail is shown and none leaves, keeps it.

The history has it with source `mailkeep`; only roles that see all domains see it there. It has no `mail.*` events, is
not counted in limits and metrics, and creates no suppressions. A mailbox of this server that receives it has its
`mail.received`, as for any mail.
"""
