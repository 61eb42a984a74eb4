"""Who calls: login by password, sessions, and what a cookie or a Bearer key stands for.

A login answers a random 256-bit token in the cookie `svc_session`, signed, and stores its hash. `session_id` names a
session and opens nothing. A session ends at its absolute end, at logout, or when the account's credentials change;
one that is shown at login is replaced. Rights are never stored with it: every request reads the account as it is.

An unknown email and a wrong password answer alike and take alike. Every try counts as a failure of its account
before the password is looked at, and is taken back when it was right, so that parallel tries gain nothing. From the
tenth failure within 15 minutes, sources that never logged into the account wait: 15 s first, then twice as long with
every try, refused ones too, 15 minutes at most. Sources that did log in before don't: no stranger locks anybody out.

A Bearer key decides where both it and a cookie are shown. With a key, an account is read but never changed.
"""
