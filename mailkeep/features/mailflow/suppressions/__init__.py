"""Suppressions: addresses to which a domain sends nothing by API.

A suppression belongs to the sending domain. With `group_id` null it holds for all mail of the domain, otherwise for
messages of that unsubscribe group only. It is checked when a message is sent by API (`mailflow/sending`); mail of mail
clients, forwards and replies by Sieve are not checked.

An address is suppressed automatically when mail of the domain, sent by API or by a mail client, fails for it:

- at once, if it is refused permanently as `invalid_recipient`, `mailbox_disabled` or `bad_domain`;
- as `mailbox_full`, if that is the third message in 14 days that could not be delivered for this reason;
- after a complaint (`mailflow/bounce_reports`).

A refusal with an enhanced code 5.7.x never suppresses: it is about the sender or the message, not the address. Neither
does forwarded mail (source `system`). Automatic suppressions are written in the transaction of the outcome.
"""
