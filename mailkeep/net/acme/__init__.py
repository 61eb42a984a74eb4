"""An ACME client (RFC 8555): accounts, orders, HTTP-01 and DNS-01, revocation, change of the account key, external
account binding, certificate profiles, and ARI (RFC 9773).

`jws` signs requests, `answers` reads the responses, `client` speaks with the authority. It keeps nothing: the caller
stores account key, account URL and certificates, and publishes the challenges. A nonce that the authority refuses
(badNonce) is replaced and the request repeated. Every URL must be https and is subject to the checks of the outbound
client (`net/client`).
"""
