"""Messages that programs submit by SMTP with an API key, on ports 587 and 465: what the milter (`mail/milter`) does
with each at its end.

The rules are those of `POST /send`: From must be an address that the key may send from, recipients that are suppressed
for its domain are removed, and the envelope sender becomes the message's bounce address. The fields `X-Mailkeep-Tags`
and `Idempotency-Key` (`mail/message/submission_fields`) are removed, Message-ID and Date are added if they are missing.
The content is kept as for messages of the API.

Counting the message, its envelope, its row for the history and the claim of its Idempotency-Key are one commit, before
the milter accepts. Postfix's log then decides (`mailflow/delivery_status`): with the line of the queue manager
the row is in the history and the claim is settled; if the log shows a rejection, or the queue ID neither there nor in
the queue, the message is uncounted and the claim is free.

A message whose Idempotency-Key is claimed is not sent again. Once the log has shown its acceptance it is accepted and
discarded, neither counted nor in the history; before, the reply is 451; with another content it is 550.
"""
