"""Rendering in child processes: what templates may do, and what hostile ones can't."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from mailkeep.mail.templates import render_process
from mailkeep.mail.templates.exchange import MAX_BODY, TOO_MUCH_TIME, RenderResult, TemplateSource
from mailkeep.mail.templates.render_process import Renderer, RenderLimits

PATIENT: dict[str, Any] = {"seconds": 60.0, "start_seconds": 60.0, "wait_seconds": 60.0}


@pytest.fixture(scope="module")
async def renderer() -> AsyncIterator[Renderer]:
    renderer = Renderer(limits=RenderLimits(**PATIENT))
    yield renderer
    await renderer.close()


async def render(renderer: Renderer, html: str, **values: Any) -> RenderResult:
    return await renderer.render(TemplateSource("s", None, html), values)


def reason(result: RenderResult) -> str:
    (problem,) = result.problems
    return problem.reason


async def test_html_is_escaped_and_subject_and_text_are_not(renderer: Renderer):
    source = TemplateSource("For {{ name }}", "Hi {{ name }}", "<p>Hi {{ name }}</p>{{ name | safe }}")
    result = await renderer.render(source, {"name": "<b>A & B</b>"})
    assert result.subject == "For <b>A & B</b>"
    assert result.text_body == "Hi <b>A & B</b>"
    assert result.html_body == "<p>Hi &lt;b&gt;A &amp; B&lt;/b&gt;</p><b>A & B</b>"


async def test_keys_are_never_methods_and_null_is_empty(renderer: Renderer):
    order = {"items": [{"name": "Tea"}, {"name": "Milk"}], "values": None}
    html = "{% for item in order.items %}{{ item.name }} {% endfor %}[{{ order.values }}]"
    assert (await render(renderer, html, order=order)).html_body == "Tea Milk []"
    pairs = "{% for key, value in prices.items() %}{{ key }}={{ value }};{% endfor %}"
    assert (await render(renderer, pairs, prices={"a": 1, "b": 2})).html_body == "a=1;b=2;"


async def test_a_line_with_only_a_block_leaves_no_line(renderer: Renderer):
    source = TemplateSource("s", "One\n  {% if yes %}\nTwo\n  {% endif %}\nThree\n", None)
    assert (await renderer.render(source, {"yes": True})).text_body == "One\nTwo\nThree\n"


async def test_all_missing_variables_are_found_at_once(renderer: Renderer):
    html = "{{ name }} {{ order.id }} {% for line in order.lines %}{{ line.price }}{% endfor %}{% if vip %}!{% endif %}"
    result = await render(renderer, html, order={"lines": [{"price": 1}, {}]})
    assert result.missing == ["name", "order.id", "order.lines[1].price", "vip"]
    source = TemplateSource("{{ a.b }}", "{{ c + 1 }}", "{{ d }}", ["e.f", "g"])
    assert (await renderer.render(source, {"g": None})).missing == ["e.f", "g", "a.b", "c"]


async def test_optional_and_defined_variables_may_be_missing(renderer: Renderer):
    html = (
        "[{{ note }}{% if extra.gift %}gift{% endif %}{{ nick | default('friend') }}{% if x is defined %}x{% endif %}]"
    )
    source = TemplateSource("s", None, html, [], ["note", "extra"])
    assert (await renderer.render(source, {})).html_body == "[friend]"


async def test_the_rendered_subject_is_one_line(renderer: Renderer):
    source = TemplateSource("For {{ name }}", "x", None)
    result = await renderer.render(source, {"name": "Bob\r\nBcc: eve@elsewhere.test"})
    assert [(each.field, each.reason) for each in result.problems] == [
        ("subject", "must not contain control characters, such as line breaks")
    ]
    assert reason(await renderer.render(source, {"name": "x" * 3000})) == "must have at most 2000 characters"
    assert reason(await renderer.render(TemplateSource("{{ name }}", "x", None), {"name": " "})) == "is empty"


async def test_text_is_derived_from_html_and_css_is_inlined_without_loading(renderer: Renderer):
    html = (
        "<html><head><style>p { color: red } @media (max-width: 9px) { p { color: blue } } "
        "@import url(file:///etc/passwd);</style><link rel='stylesheet' href='http://169.254.169.254/x.css'></head>"
        "<body><p>Hello {{ name }}</p></body></html>"
    )
    result = await renderer.render(TemplateSource("s", None, html, inline_css=True), {"name": "Bob"})
    assert result.text_derived
    assert result.text_body == "Hello Bob\n"
    assert result.html_body is not None
    assert '<p style="color: red;">Hello Bob</p>' in result.html_body
    assert "@media" in result.html_body
    assert "root:" not in result.html_body


async def test_errors_name_part_and_line(renderer: Renderer):
    problems = (await renderer.check(TemplateSource("{{ a", "x\n{% if %}", "<p>\n\n{{ a | nope }}"))).problems
    assert [(each.field, each.line) for each in problems] == [("subject", 1), ("text_body", 2), ("html_body", 3)]
    result = await render(renderer, "<p>\n{% for i in n %}{% endfor %}", n=1)
    assert [(each.field, each.line, each.reason) for each in result.problems] == [
        ("html_body", 2, "'int' object is not iterable")
    ]


async def test_used_variables_have_dotted_names(renderer: Renderer):
    html = (
        "{{ order.lines[0].price }}{% for item in cart.items %}{{ item.x }}{% endfor %}{% set y = 1 %}{{ y }}"
        "{{ names['first'] }}{{ table[key].z }}{{ title.upper() }}{{ range(3) }}{% macro m(a) %}{{ a }}{% endmacro %}"
        "{{ m(shop.name) }}{{ nick | default(name) }}"
    )
    uses = (await renderer.check(TemplateSource("{{ order.id }}", None, html))).uses
    assert uses["subject"] == ["order.id"]
    assert uses["html_body"] == [
        "cart.items", "key", "name", "names.first", "nick", "order.lines", "shop.name", "table", "title",
    ]  # fmt: skip


LOOP = "{% for i in range(99999) %}"
ATTACKS = {
    "attributes": ("{{ ''.__class__.__mro__ }}", "is not allowed"),
    "attributes by filter": ("{{ name | attr('__class__') }}", "is not allowed"),
    "attributes of a missing variable": ("{{ nothing.__class__.__init__.__globals__ }}", "is not allowed"),
    "the template itself": ("{{ self.__init__.__globals__ }}", "is not allowed"),
    "a format string": ("{{ '{0.__class__}'.format(name) }}", "is not allowed"),
    "a mapped attribute": ("{{ [name] | map(attribute='__class__') | list }}", "is not allowed"),
    "changes": ("{{ list.append(1) }}", "is not allowed"),
    "a huge range": ("{% for i in range(10**9) %}{% endfor %}", "Range too big"),
    "an endless loop": (f"{LOOP * 2}{'{% endfor %}' * 2}", TOO_MUCH_TIME),
    "a huge number": ("{{ (10 ** n) % 7 }}", TOO_MUCH_TIME),
    "huge output": (LOOP + "{{ 'x' * 100 }}{% endfor %}", f"must have at most {MAX_BODY} characters"),
    "a huge string": ("{{ 'x' * n * 100 }}", "takes too much memory"),
    "a wide filter": ("{{ name | center(n * 100) }}", "takes too much memory"),
    "a wide format": ("{{ '%1000000000s' | format(name) }}", "takes too much memory"),
    "a filled batch": ("{{ [1] | batch(n * 100, 'x') | list }}", "takes too much memory"),
    "collected output": ("{% set x %}" + LOOP + "{{ 'x' * 99999 }}{% endfor %}{% endset %}", "takes too much"),
    "recursion": ("{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}", "calls itself too often"),
    "a recursive loop": ("{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}", "calls itself too often"),
    "nested parentheses": ("{{ " + "(" * 9999 + "1" + ")" * 9999 + " }}", "is nested too deeply"),
    "nested conditions": ("{% if 1 %}" * 2000 + "{% endif %}" * 2000, "is nested too deeply"),
    "nested loops": ("{% for i in [1] %}" * 30 + "{% endfor %}" * 30, "is nested too deeply"),
    "another template": ("{% include 'secret' %}", "include, import and extends are not available"),
    "an import": ("{% import 'os' as os %}", "include, import and extends are not available"),
    "a parent": ("{% extends name %}", "include, import and extends are not available"),
    "half of a character": (r"{{ '\ud800' }}", "must not contain control characters"),
    "a function": ("{{ range }}", "can't be printed"),
}  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
async def test_a_hostile_template_is_bounded(renderer: Renderer, attack: str):
    html, expected = ATTACKS[attack]
    source = TemplateSource("s", None, html)
    result, other = await asyncio.gather(
        renderer.render(source, {"name": "x", "n": 10**7, "list": []}), render(renderer, "Hello {{ name }}", name="Bob")
    )
    assert expected in reason(result)
    assert other.html_body == "Hello Bob"


async def test_functions_that_are_not_there_are_missing_variables(renderer: Renderer):
    assert (await render(renderer, "{{ lipsum(99999) }}{{ cycler }}{{ joiner }}")).missing == ["lipsum"]


async def test_a_compiled_template_is_kept_by_its_key(renderer: Renderer):
    first, second = TemplateSource("1", "{{ a }}", None), TemplateSource("2", "{{ a }}", None)
    assert (await renderer.render(first, {"a": 1}, "a:1")).subject == "1"
    assert (await renderer.render(second, {"a": 1}, "a:2")).subject == "2"
    assert (await renderer.render(first, {"a": 2}, "a:1")).text_body == "2"


async def test_a_dropped_template_is_sent_again():
    """More than a child keeps."""
    renderer = Renderer(limits=RenderLimits(children=1, **PATIENT))
    sources = {f"t:{number}": TemplateSource(str(number), "x" * (256 << 10), None) for number in range(20)}
    for _ in range(2):
        for key, source in sources.items():
            assert (await renderer.render(source, {}, key)).subject == key.removeprefix("t:")
    await renderer.close()


async def test_a_child_that_has_ended_meanwhile_is_replaced():
    renderer = Renderer(limits=RenderLimits(children=1, **PATIENT))
    assert (await render(renderer, "{{ n }}", n=1)).html_body == "1"
    [child] = renderer._idle
    child.socket.shutdown(socket.SHUT_RDWR)
    assert (await render(renderer, "{{ n }}", n=2)).html_body == "2"
    await renderer.close()


async def test_a_process_that_renders_can_do_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """T57: even if a template takes over the process."""
    monkeypatch.setattr(render_process, "WORKER", "tests.support.hostile_renderer")
    monkeypatch.setenv("CANARY", "canary")
    secret = tmp_path / "secret"
    secret.write_text("canary")
    secret.chmod(0o644)
    renderer = Renderer(limits=RenderLimits(**PATIENT))
    with socket.create_server(("127.0.0.1", 0)) as server:
        values = {"secret": str(secret), "host": "127.0.0.1", "port": server.getsockname()[1]}
        result = await renderer.render(TemplateSource("s", "x", None), values)
    await renderer.close()
    report = json.loads(result.text_body or "{}")
    assert report.pop("environ").keys() <= {"LC_CTYPE"}  # which Python sets
    assert report.pop("files") == 1  # the connection
    assert report.pop("uid") == (65534 if os.geteuid() == 0 else os.geteuid())
    assert set(report.values()) == {"refused"}, report
    assert secret.read_text() == "canary"
    assert len(report) == 17
