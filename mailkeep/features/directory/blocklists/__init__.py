"""DNS blocklists (RFC 5782): whether addresses of the server are on lists by which others refuse mail.

Each list is first asked for its test entries. Without them, or with an entry for every address, it is out of service
and says nothing. A list may also refuse the name servers that are asked (Spamhaus refuses large public ones).
"""
