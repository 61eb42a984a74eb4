"""Unsubscribe groups, and the links by which recipients leave them (List-Unsubscribe with one click, RFC 8058).

A message that is sent with `unsubscribe: {group_id}` has header fields with a link to `/u/{token}` here. GET shows a
page and changes nothing, because mail filters fetch links. POST, by the page's button or by the mail program itself,
suppresses the recipient for the group. The token is sealed with the master secret: it names group, message and
recipient, nobody can forge or read it, and it works as long as the group exists. A
repetition changes nothing. Paths with tokens are never logged, and have their own limit of requests.
"""
