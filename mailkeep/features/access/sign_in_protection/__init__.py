"""Sign-in protection: one decision about every sign-in with a password, by mail protocols and the API.

A *source* is an IPv4 address or an IPv6 /64 network. A source is *known* to an account for 180 days after a sign-in
from it. Failures of the last 15 minutes count:

- To an account from all unknown sources together: from the tenth on, sign-ins from unknown sources are refused for 15
  seconds, then twice as long with every further failure, up to 15 minutes.
- From one source: after 30 failures with at least three accounts, it is blocked for an hour. Accounts to which it is
  known are exempt.
- To an account from a source known to it: after 50, this source is blocked for this account, for 15 minutes. Nobody
  elsewhere can cause that.

From the fifth failure on, mail protocols delay the answer by 1 to 4 seconds. The API does not: its callers wait in a
bounded queue (`logins`).

An attempt is counted as a failure before its password is verified, and uncounted if it was right, so parallel attempts
gain nothing. Attempts that are refused are not counted. A wrong password counts once for an account and source, however
often a mail client repeats it: 12 bits of a keyed hash of the password are kept for 15 minutes. Names that are no
address count for their source only. Failures are kept, and shown in the overview of abuse, for an hour.

Blocks are listed and can be removed, which also forgets the failures behind them. A mailbox and an administrator with
the same address are different accounts.
"""
