"""Submission with an API key on the embedded profile's SMTP listener: STARTTLS, then AUTH as `apikey` with the key.

The rules are those of `POST /send` and of the full profile (`mailflow/key_senders`, `mailflow/key_submission`). The
message is checked, counted and recorded, submitted to the configured server for outbound mail, and answered with 250
only when that server has accepted it. History: `source: smtp` with the key and its tags; the content is kept as for the
API.

A message with an Idempotency-Key is claimed before it is recorded; the claim has the ID of its row in the history,
which says what has become of it. A message that was accepted is not sent again (250; 550 with another content); while
its outcome is not known the reply is 451. A claim without an accepted message is free again, also after a crash: this
profile has one process, and the attempts of a former one are settled before the listener opens.

Sessions are ended with 421 within two seconds after their key is revoked or expires, or its owner is disabled.
"""
