"""What an API key may send by SMTP: the key of a submission session with its present rights, its senders, and the
replies.

The rules are those of `POST /send`. The envelope sender and the author (From) must each be of an active domain that the
key's owner and scope allow: otherwise 553 5.7.1. The policy service (`mailflow/policy`) checks the envelope sender at
RCPT and at the end of the message, whoever reads the header checks the author with `check_author`.
"""
