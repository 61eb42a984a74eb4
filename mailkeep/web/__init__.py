"""How we speak HTTP: endpoints, the pipeline of a request, strict decoding, the envelope, limits, OpenAPI.

The order of refusals: address and login limits, unknown path (404) and method (405), credentials (401), the
key's rate (429), body size and type (413, 415), role or scope that bars the route (403), fields (400), then
whatever the handler says of the object (404, 403, 409).
"""
