"""The text of HTML."""

import pytest

from mailkeep.mail.templates.html_text import convert_to_text


@pytest.mark.parametrize(
    "html, text",
    [
        ("<p>One  two\n three</p><p>Four</p>", "One two three\n\nFour\n"),
        ("a<br>b<br/>c", "a\nb\nc\n"),
        ("<h1>Title</h1>Text <b>bold</b>, <i>it</i>.", "Title\n\nText bold, it.\n"),
        ("<ul><li>One</li><li>Two</li></ul>After", "- One\n- Two\n\nAfter\n"),
        ("<table><tr><td>Tea</td><td>3</td></tr><tr><td>Milk</td><td>4</td></tr></table>", "Tea 3\nMilk 4\n"),
        ('<a href="https://a.test/?a=1&amp;b=2">Open</a>', "Open (https://a.test/?a=1&b=2)\n"),
        ('<a href="https://a.test/">https://a.test/</a>', "https://a.test/\n"),
        ('<a href="mailto:x@a.test">x@a.test</a>', "x@a.test\n"),
        ('<a href="#top">Top</a><a href="https://a.test/"><img src="x" alt="Logo"></a>', "TopLogo (https://a.test/)\n"),
        ("&lt;b&gt; &amp;&nbsp;&eacute; &#8364;", "<b> & é €\n"),
        ("<head><title>T</title><style>p{}</style></head><script>x < y</script><!-- <p>no</p> -->Yes", "Yes\n"),
        ("<div>a</div><div>b</div>", "a\nb\n"),
        ("<div>a<br></div><p>b</p>c", "a\n\nb\n\nc\n"),
        ("one<hr>two", "one\n\n---\n\ntwo\n"),
        ("1 < 2 and <unclosed", "1 < 2 and <unclosed\n"),
        ("<style>never closed <p>x</p>", "\n"),
    ],
)  # fmt: skip
def test_text(html: str, text: str):
    assert convert_to_text(html) == text


def test_hostile_markup_takes_linear_time():
    for piece in ("<!--", "<a href='", "<style>", "<", "&", "<p " * 3, "<a>" * 2):
        convert_to_text(piece * 50_000)
