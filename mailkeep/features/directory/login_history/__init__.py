"""Sign-ins to mailboxes, which their owners can see: by mail clients, and to `/me` with a browser (`web`).

There is one row for each day (UTC), protocol, client address and program, with the first and the last sign-in of that
day: mail clients sign in often. The program is the name of the app password, or the browser's user agent; it is empty
for a mail client that uses the mailbox's own password. Kept for `retention.login_days`. Failed sign-ins are not
recorded here: see `access/sign_in_protection`.
"""
