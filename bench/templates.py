"""Rendering templates: renders of one process per second of its CPU time, compared with plain Jinja2 in this process.

Both sides render subject, text and HTML of an order with three lines; the templates are compiled before. Promise: 2,000
a second of CPU time of the child process, with its part of the exchange. Also per second on the clock, which depends on
what else the machine does, and per second of CPU time of both processes. Interleaved rounds. Without text, it is
derived from the HTML; that and inlined CSS are measured apart.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import uvloop
from jinja2 import Environment

from bench.rig.calls import cpu_of, cpu_of_children
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
PROMISED = 2000
_LEAST = 0.05  # seconds of CPU: less is nothing


def plain() -> Callable[[], None]:
    text, html = Environment(autoescape=False), Environment(autoescape=True)
    templates = [text.from_string(SUBJECT), text.from_string(TEXT), html.from_string(HTML)]

    def run() -> None:
        for _ in range(RENDERS):
            for template in templates:
                template.render(VALUES)

    return run


@dataclass(frozen=True)
class Rates:
    """Renders per second: of CPU time of the child, of CPU time of both, and on the clock."""

    child: float
    both: float
    clock: float


async def measure_rates(run: Callable[[], Awaitable[None]]) -> Rates:
    def seconds() -> tuple[float, float, float]:
        child = cpu_of_children(os.getpid())
        return child, child + cpu_of(os.getpid()), time.perf_counter()

    before = seconds()
    await run()
    child, both, clock = (after - then for after, then in zip(seconds(), before, strict=True))
    return Rates(RENDERS / child if child > _LEAST else 0, RENDERS / both, RENDERS / clock)


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
    rates: dict[str, list[Rates]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, run in sides.items():
            rates[name].append(await measure_rates(run))
    await renderer.close()
    for name, each in rates.items():
        child, both, clock = (median(getattr(rate, kind) for rate in each) for kind in ("child", "both", "clock"))
        print(f"{name:32} {child:7,.0f} a CPU second of the child, {both:7,.0f} of both, {clock:7,.0f} on the clock")
    pairs = list(zip(rates["ours"], rates["plain Jinja2"], strict=True))
    ratio = {
        "CPU of both/plain": round(median(ours.both / theirs.both for ours, theirs in pairs), 2),
        "renders a CPU second": round(median(ours.child for ours, _ in pairs)),
    }
    held = ratio["renders a CPU second"] >= PROMISED
    print(json.dumps({"bench": "templates", "promise": f"{PROMISED} a second", "ratio": ratio, "held": held}))
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    uvloop.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 7))
