"""The setup of mail programs: the documents that they look for, and a page for each mailbox.

**By host name**, open to everybody: autoconfig (Thunderbird and others) and Autodiscover (Outlook); `mail/client_setup`
composes them. The answer depends on the domain and the settings alone: it is the same for every local part, whether
there is such a mailbox or not. An unknown domain is NOT_FOUND. In an alias domain, users sign in with their address in
the target.

**By mailbox**: `GET /mailboxes/{id}/setup` and `/me/setup` list the services that the mailbox may use, or answer a
profile for Apple's devices, signed with the server's certificate. In the full profile only root can read that key, so
the process `node` composes and signs the profile: the API can't get anything else signed.

**Setup links**: a page with all of this and a QR code, for a device where nobody is signed in. Whoever may change the
mailbox can create a link, its owner or an administrator. It works for 7 days, as often as needed, since a person has
several devices. A mailbox has at most one: a new one replaces it. It ends when the mailbox is deactivated or deleted.
The token is an HMAC of the link's ID with the master secret, so that the link can be shown again; only its hash is
stored. Neither page nor profile has a password.

In the embedded profile the documents show what the full profile would offer with the same settings.
"""
