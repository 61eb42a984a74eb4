"""The request that Outlook sends to Autodiscover."""

OUTLOOK = "http://schemas.microsoft.com/exchange/autodiscover/outlook/"


def outlook_request(
    address: str = "alice@example.test", response: str = f"{OUTLOOK}responseschema/2006a", start: str = ""
) -> bytes:
    """`start`: between the declaration and the element."""
    return (
        f'<?xml version="1.0" encoding="utf-8"?>{start}<Autodiscover xmlns="{OUTLOOK}requestschema/2006"><Request>'
        f"<EMailAddress>{address}</EMailAddress><AcceptableResponseSchema>{response}</AcceptableResponseSchema>"
        "</Request></Autodiscover>"
    ).encode()
