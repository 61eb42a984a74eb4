"""The API of owners of mailboxes, below `/me`: what they may do with their own mailbox, and with no other.

An owner signs in with the mailbox's address and password, and a second factor if the mailbox has one. The cookie
`svc_mailbox` opens nothing but `/me`, and checks of Sieve scripts; nothing else opens `/me`. App passwords do not. A
domain's `self_service` false refuses sign-in (FORBIDDEN `self_service`) and ends open sessions; so does a mailbox or
domain that is not active. Limits on failed sign-ins are those of the mailbox by mail protocols
(`access/sign_in_protection`). `auth.allowed_networks` and `auth.require_second_factor` are about administrators.

With a second factor, mail clients need app passwords. To change password, factors or app passwords, a session must be
at most 15 minutes old or give the current password. Mailkeep's own page and other clients use the same endpoints.

What owners do is in the audit log, with the actor `mailbox` and the mailbox's domain.
"""
