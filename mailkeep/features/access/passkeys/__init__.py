"""Passkeys: logging in with a key that never leaves its owner's device, alone or after the password.

A passkey is a Web Authentication credential for the domain of `http.public_url` only: browsers refuse to use it on any
other site, and so does the server. If the authenticator has verified the user (PIN, fingerprint or face), a passkey
logs in alone, otherwise only as second factor after the password. An account with a passkey has a second factor: its
password alone opens no session, and `auth.require_second_factor` is satisfied.

Every registration and login begins with a challenge of 256 random bits. Its hash is kept for 5 minutes, bound to its
purpose and to the session or pending login that requested it, and deleted with the first response, right or wrong. If
an authenticator counts its uses, the counter must increase (the database compares and sets it): a copied key is
refused, and the refusal is in the audit log.

An account has at most 20 passkeys; a credential belongs to one account. With the first second factor, an account gets
ten recovery codes, shown only once, which are valid as long as it has any second factor. Registering and deleting need
a session opened within the last 15 minutes, or the password; both end the account's other sessions and pending logins.
If the role requires a second factor, the last one can't be deleted.

Attestation is not requested: the server does not need to know the authenticator's manufacturer.
"""
