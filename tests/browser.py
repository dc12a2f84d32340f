"""Debian's Chromium without a window: what it draws, logs and requests when it opens a page."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from selenium.webdriver import ActionChains, Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
MISSING = "no browser here: these tests need Debian's packages chromium and chromium-driver"
Scheme = Literal["light", "dark"]
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip
# the time between frames, in milliseconds, while `work` is called once in each; the first ones warm up
FRAMES = """
const [work, count, done] = [new Function("frame", arguments[0]), arguments[1], arguments[2]];
const times = [];
const next = (now) => {
  times.push(now);
  work(times.length);
  times.length < count ? requestAnimationFrame(next) : done(times.slice(6).map((time, at) => time - times[at + 5]));
};
requestAnimationFrame(next);
"""


class Browser:
    """One tab. `open` a page; then point, press keys, look; `problems` must be empty in the end."""

    def __init__(self, driver: Chrome):
        self.driver, self.page = driver, "data:,"  # the empty tab

    def open(self, page: Path, width: int = 1280, height: int = 900, scheme: Scheme = "light") -> None:
        self.problems()  # of the page before
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        self.page = page.as_uri()
        self.driver.get(self.page)

    def problems(self) -> list[str]:
        """Everything on the console, and every request but for the page itself and the data within it."""
        console = [entry["message"] for entry in self.driver.get_log("browser")]  # pyright: ignore
        return console + [url for url in self._requested() if not url.startswith("data:") and url != self.page]

    def _requested(self) -> Iterator[str]:
        for entry in self.driver.get_log("performance"):  # pyright: ignore[reportUnknownMemberType]
            event = json.loads(entry["message"])["message"]
            told = event["params"]
            if told.get("documentURL", "").startswith("chrome"):  # the tab that the browser came up with
                continue
            if event["method"] in ("Network.requestWillBeSent", "Network.webSocketCreated"):
                yield told.get("request", told)["url"]

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def find_all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def point(self, element: WebElement) -> None:
        self.run("arguments[0].scrollIntoView({block: 'center'})", element)
        ActionChains(self.driver, duration=0).move_to_element(element).perform()

    def press(self, *keys: str) -> None:
        ActionChains(self.driver, duration=0).send_keys(*keys).perform()

    def sideways(self) -> int:
        """How many pixels the page is wider than the window."""
        return self.run("const e = document.scrollingElement; return e.scrollWidth - e.clientWidth")

    def frames(self, work: str, count: int = 90) -> tuple[list[float], float]:
        """The script `work` runs in every frame: the milliseconds of each frame by the clock, and the mean of what the
        page's thread computes in one, which does not depend on what else the machine does."""
        self.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        before = self._computed()
        times = self.driver.execute_async_script(FRAMES, work, count)
        return times, (self._computed() - before) / count

    def _computed(self) -> float:
        metrics = self.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        return 1000 * next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")


@contextmanager
def chromium(folder: Path) -> Iterator[Browser]:
    options = ChromeOptions()
    assert CHROMIUM and DRIVER
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={folder}", "about:blank"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = Chrome(options=options, service=Service(DRIVER))
    driver.set_script_timeout(60)
    try:
        yield Browser(driver)
    finally:
        driver.quit()
