"""Sendmail: mail that programs on this machine submit with `mailkeep sendmail` (docs/howto/sendmail.md).

The kernel reports the calling account (SO_PEERCRED). An account may send as `account@` the server's host name; other
senders need an entry in the setting `sendmail.allowed` or an API key that may send for the domain. This applies to the
envelope sender and to From, which is rewritten from the checked address. Every message is counted for the account (with
a key: for the address in From), is refused while that sender is suspended, and has a row in the history: source `smtp`,
or `api` with a key.

The host name need not be a managed domain. If it is not, mail from it is not signed, and mail for an account of this
machine goes to `postmaster@` the host name, that is to the administrators.

The program's exit code is 0 only after the MTA has accepted the message. The attempt is committed before the
submission. Its ID is in the first Received field, so that Postfix's log identifies it after a crash.
"""
