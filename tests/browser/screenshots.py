"""Pictures of every screen, light and dark, wide and phone, into docs/screenshots/: `make screenshots`."""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, async_playwright

from tests.browser.scene import Scene, scenes
from tests.browser.screens import PHONE, ROOT, SCREENS, WIDE, Screen, context, turn_to, visit

FOLDER = ROOT / "docs/screenshots"
FORMS: dict[str, dict[str, Any]] = {
    "wide-light": {"viewport": WIDE, "color_scheme": "light"},
    "wide-dark": {"viewport": WIDE, "color_scheme": "dark"},
    "phone-light": {"viewport": PHONE, "color_scheme": "light", "is_mobile": True},
    "phone-dark": {"viewport": PHONE, "color_scheme": "dark", "is_mobile": True},
}
ALSO = (Screen("new-webhook", "/webhooks?new=yes"), Screen("new-key", "/api-keys?new=yes"))


async def take(browser: Browser, scene: Scene, folder: Path) -> list[Path]:
    """Each screen in each form, as the super administrator sees it; what was written."""
    written: list[Path] = []
    for form, options in FORMS.items():
        async with context(browser, None, reduced_motion="reduce", **options) as made:
            page = await made.new_page()
            await visit(page, scene.http, "/login")
            written.append(folder / f"login-{form}.png")
            await page.screenshot(path=written[-1])
        async with context(browser, scene.sue, reduced_motion="reduce", **options) as made:
            page = await made.new_page()
            await visit(page, scene.http, "/")
            for screen in (*SCREENS, *ALSO):
                await turn_to(page, screen.at(scene.ids))
                if screen.name == "live-events":
                    await page.get_by_text("live", exact=True).wait_for()
                    await scene.send(subject="Your order is on its way")
                    await page.get_by_text("mail.delivered").first.wait_for()
                await page.wait_for_timeout(150)
                written.append(folder / f"{screen.name}-{form}.png")
                await page.screenshot(path=written[-1])
    return written


async def main() -> int:
    program = shutil.which("chromium")
    if program is None:
        print("There is no chromium here; on Debian: apt install chromium", file=sys.stderr)
        return 1
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        async with scenes(Path(folder)) as scene, async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"]
            )
            written = await take(browser, scene, FOLDER)
            await browser.close()
    for old in set(FOLDER.glob("*.png")) - set(written):
        old.unlink()
    print(f"{len(written)} pictures, {sum(each.stat().st_size for each in written) >> 10} KiB in {FOLDER}")
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
