"""Sendmail: mail that programs on this machine hand in with `mailkeep sendmail` (docs/howto/sendmail.md).

The kernel says which account calls (SO_PEERCRED). An account sends as `account@` the server's host name only; other
senders need an entry in `sendmail.allowed` or an API key that may send for the domain. That holds for the envelope
sender and for From, which is written anew from the address that was checked. Every message is counted for the account
(with a key: for From), is refused while that is suspended, and has its row in the history: source `smtp`, with a key
`api`.

The host name need not be a managed domain. If it is not, mail from it is not signed, and mail for an account of this
machine goes to `postmaster@` the host name, that is to the administrators.

The program's exit code is 0 only after the MTA has accepted the message. The attempt is committed before, and its ID is
in the first Received field, by which Postfix's log reader finds it after a crash.
"""
