"""Rendering templates: renders per second of one process, compared with plain Jinja2 in this process.

Both sides render subject, text and HTML of an order with three lines; the templates are compiled before. Ours includes
the exchange with the child process. Interleaved rounds; the result is the ratio. Without text, it is derived from the
HTML; that and inlined CSS are measured apart.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from statistics import median
from typing import Any

import uvloop
from jinja2 import Environment

from mailkeep.mail.templates.exchange import TemplateSource
from mailkeep.mail.templates.render_process import Renderer, RenderLimits

SUBJECT = "Your order {{ order.id }} is on its way"
TEXT = """Hello {{ name }},

your order {{ order.id }} is on its way:

{% for line in order.lines %}
- {{ line.name }}: {{ line.price }}
{% endfor %}
{% if note %}{{ note }}{% endif %}
"""
HTML = (
    """<html><head><style>h1 { color: #24507f } td { padding: 4px }</style></head><body>
<h1>Hello {{ name }},</h1>
<p>your order {{ order.id }} is on its way:</p>
<table>{% for line in order.lines %}<tr><td>{{ line.name }}</td><td>{{ line.price }}</td></tr>{% endfor %}</table>
{% if note %}<p>{{ note }}</p>{% endif %}
"""
    + "<p>We will write again when it has arrived. Thank you for your order.</p>\n" * 20
    + "</body></html>"
)
VALUES: dict[str, Any] = {
    "name": "Alice <alice@example.com>",
    "note": "",
    "order": {"id": "A-1041", "lines": [{"name": f"Thing {number}", "price": 10 + number} for number in range(3)]},
}
RENDERS = 2000


def plain() -> Callable[[], None]:
    text, html = Environment(autoescape=False), Environment(autoescape=True)
    templates = [text.from_string(SUBJECT), text.from_string(TEXT), html.from_string(HTML)]

    def run() -> None:
        for _ in range(RENDERS):
            for template in templates:
                template.render(VALUES)

    return run


async def timed(run: Callable[[], Awaitable[None]]) -> float:
    start = time.perf_counter()
    await run()
    return RENDERS / (time.perf_counter() - start)


async def measure(rounds: int) -> None:
    renderer = Renderer(limits=RenderLimits(children=1, start_seconds=60, wait_seconds=60))
    sources = {
        "ours": TemplateSource(SUBJECT, TEXT, HTML),
        "ours, text derived": TemplateSource(SUBJECT, None, HTML),
        "ours, text derived, CSS inlined": TemplateSource(SUBJECT, None, HTML, inline_css=True),
    }
    in_process = plain()

    async def theirs() -> None:
        in_process()

    def ours(name: str) -> Callable[[], Awaitable[None]]:
        async def run() -> None:
            for _ in range(RENDERS):
                result = await renderer.render(sources[name], VALUES, name)
                assert result.html_body

        return run

    sides = {"plain Jinja2": theirs} | {name: ours(name) for name in sources}
    for run in sides.values():
        await run()
    rates: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, run in sides.items():
            rates[name].append(await timed(run))
    await renderer.close()
    found = {f"{name}, per second": round(median(each)) for name, each in rates.items()}
    ratio = median(ours / theirs for ours, theirs in zip(rates["ours"], rates["plain Jinja2"], strict=True))
    print(json.dumps(found | {"ratio": round(ratio, 2), "load": os.getloadavg()[0]}, indent=2))


if __name__ == "__main__":
    uvloop.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 7))
