"""The use of an invitation: its page asks for which account it is, and sets the password.

Both calls are open: the token is the credential. They open no session. An unknown, used, replaced or expired token is
NOT_FOUND. A refused password leaves the invitation as it is. The invitations of administrators are subject to
`auth.allowed_networks`, as their sign-in is. The links themselves: `access/invitations`.
"""
