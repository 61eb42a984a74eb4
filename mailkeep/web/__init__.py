"""HTTP: endpoints, the request pipeline, strict decoding, the envelope, limits, OpenAPI.

Checks run in this order: rate limits by address, path (404) and method (405), credentials (401), the API key's rate
(429), body size and type (413, 415), role and scope for the route (403), fields (400), and then what the handler
decides about the object (404, 403, 409).
"""
