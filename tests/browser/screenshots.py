"""Pictures of every screen, light and dark, wide and phone, into docs/screenshots/: `make screenshots [ARGS=FOLDER]`.

They are kept with palettes of 256 colours, at less than half the size; the eye sees no difference.
"""

from __future__ import annotations

import asyncio
import io
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops, ImageStat
from playwright.async_api import Browser, Page

from tests.browser.front import Front, run_front
from tests.browser.scene import Scene, run_scene
from tests.browser.screens import PHONE, ROOT, SCREENS, WIDE, Screen, context, turn_to, visit
from tests.plugins.browser import PROGRAMS, launch, program

FOLDER = ROOT / "docs/screenshots"
FORMS: dict[str, dict[str, Any]] = {
    "wide-light": {"viewport": WIDE, "color_scheme": "light"},
    "wide-dark": {"viewport": WIDE, "color_scheme": "dark"},
    "phone-light": {"viewport": PHONE, "color_scheme": "light", "is_mobile": True},
    "phone-dark": {"viewport": PHONE, "color_scheme": "dark", "is_mobile": True},
}
ALSO = (Screen("new-webhook", "/webhooks?new=yes"), Screen("new-key", "/api-keys?new=yes"))
# On a picture the middle of its differences, of 255.
_MOST_DIFFERENT = 0.1


async def take(browser: Browser, scene: Scene, front: Front, folder: Path) -> list[Path]:
    """Each screen in each form, as the super administrator sees it; what was written."""
    written: list[Path] = []

    async def keep(page: Page, name: str) -> None:
        written.append(folder / f"{name}.png")
        written[-1].write_bytes(reduce_colors(await page.screenshot()))

    for form, options in FORMS.items():
        async with context(browser, None, reduced_motion="reduce", **options) as made:
            page = await made.new_page()
            await visit(page, scene.http, "/login")
            await keep(page, f"login-{form}")
        async with context(browser, scene.sue, reduced_motion="reduce", **options) as made:
            page = await made.new_page()
            await visit(page, scene.http, "/")
            for screen in (*SCREENS, *ALSO):
                if screen.name == "queue":
                    continue
                await turn_to(page, screen.at(scene.ids))
                if screen.name == "events":
                    await page.get_by_text("live", exact=True).wait_for()
                    await scene.send(subject="Your order is on its way")
                    await page.get_by_text("mail.delivered").first.wait_for()
                await page.wait_for_timeout(150)
                await keep(page, f"{screen.name}-{form}")
            await visit(page, front.http, "/queue")
            await page.get_by_label("Select", exact=False).nth(1).check()
            await page.get_by_label("Select", exact=False).nth(2).check()
            await keep(page, f"queue-{form}")
    return written


def reduce_colors(picture: bytes) -> bytes:
    """A picture with a palette of its own."""
    whole = Image.open(io.BytesIO(picture)).convert("RGB")
    few = whole.quantize(256, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    difference = ImageStat.Stat(ImageChops.difference(whole, few.convert("RGB"))).mean
    assert max(difference) < _MOST_DIFFERENT, difference
    kept = io.BytesIO()
    few.save(kept, "PNG", optimize=True)
    return kept.getvalue()


async def main() -> int:
    found = program()
    if found is None:
        print(f"There is no chromium here; on Debian: apt install {PROGRAMS[0]}", file=sys.stderr)
        return 1
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    target.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        async with run_scene(Path(folder)) as scene, run_front(scene) as front, launch(found) as browser:
            written = await take(browser, scene, front, target)
    for old in set(target.glob("*.png")) - set(written):
        old.unlink()
    print(f"{len(written)} pictures, {sum(each.stat().st_size for each in written) >> 10} KiB in {target}")
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
