"""Who calls: login by password, sessions, and what a cookie or a Bearer key stands for.

A login answers a random 256-bit token in the cookie `svc_session`, signed, and stores its hash. `session_id` names a
session and opens nothing. A session ends at its absolute end, at logout, or when the account's credentials change;
one that is shown at login is replaced. Rights are never stored with it: every request reads the account as it is.

An unknown email and a wrong password answer alike and take alike. Tries are counted: from the tenth
failure of an account within 15 minutes, sources that never logged into it wait. Sources that did log in before, and
sessions that give the current password, have 50 failures of their own in 15 minutes: no stranger locks anybody out.
Passwords are hashed a few at a time, over all callers; a flood of logins fills a queue
of bounded length, past which go those who have logged in before, and leaves other calls their time.

An account with a second factor logs in by two steps. The right password answers a token that takes a code for 5
minutes and 5 tries; a code of the authenticator or a recovery code then opens the session. The token is stored as a
hash, and dies with the credentials that made it.

The installation may ask roles for a second factor (`auth.require_second_factor`): until the account has enrolled one,
it is FORBIDDEN (`second_factor_required`) everything but that, `/auth/me` and logging out, by session and by key. It
may also say from where to call (`auth.allowed_networks`), and a key where it is used from: FORBIDDEN (`network`).

A Bearer key decides where both it and a cookie are shown. With a key, an account is read but never changed.
"""
