"""Connections of the webmail's PHP to Dovecot, Postfix and the API, forwarded with the address of the webmail's client.

PHP connects in a network of its own (`core/private_root`), with the client's address as the source of the connection;
an IPv4 address is in 64:ff9b::/96 (RFC 6052). Dovecot and Postfix get the address in a PROXY header (`proxy_header`),
the API in X-Forwarded-For (`password_call`), which lets only the requests pass that change an owner's password.
"""
