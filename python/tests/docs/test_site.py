"""Tests the built site: links, pictures and formulas, the width of a phone, lengths, search, and replays.

Pages are opened in Debian's Chromium from a server on this machine. Requests to elsewhere are refused,
and fail the test. `./dev site` builds the site; the tests are skipped if it is missing or out of date.
"""

from __future__ import annotations

import functools
import http.server
import importlib.util
import shutil
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[3]
SITE = ROOT / "build" / "site"
# Width and height [px]. The theme shows contents beside the text from 1312 px on.
_DESKTOP, _LAPTOP, _PHONE = (1440, 900), (1280, 800), (390, 844)
_SIZES = pytest.mark.parametrize(
    "size", [_DESKTOP, _LAPTOP, _PHONE], ids=["desktop", "laptop", "phone"]
)
_MAX_SCREENS = 3.0

_CHROMIUM = shutil.which("chromium")
_ARGUMENTS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader"),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # there is no network
]
_HAS_BROWSER = bool(_CHROMIUM) and importlib.util.find_spec("playwright") is not None
needs_browser = pytest.mark.skipif(
    not _HAS_BROWSER, reason="Debian's package chromium or playwright is not installed"
)

# Measurements of a page: its width, pictures that are broken, formulas without a size, the height of
# its text, whether it has a picture, how many links each of its visible tables of contents has, and how
# many blocks of code must be scrolled.
_MEASURE = """() => {
  const article = document.querySelector("article");
  const lists = ".toc-drawer:not(.no-toc) .toc-tree, .page-contents, .genindex-jumpbox";
  const text = article.cloneNode(true);
  text.querySelectorAll("code, pre, math").forEach((item) => item.remove());
  const countLinks = (list) => list.querySelectorAll("a").length;
  // In the page, not in a drawer beyond its edge.
  const isSeen = (list) => {
    const box = list.getBoundingClientRect();
    return box.width > 0 && box.left >= 0 && box.right <= document.documentElement.clientWidth + 1;
  };
  const isCut = (code) => code.scrollWidth > code.clientWidth;
  const hasSize = (item) => item.getBoundingClientRect().width > 0;
  return {
    excess: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    broken: [...document.images].filter((image) => !image.naturalWidth).map((image) => image.src),
    empty: [...article.querySelectorAll("math")].filter((math) => !hasSize(math)).length,
    tex: /\\\\(frac|sum|gamma|mu|delta)/.test(text.textContent),
    complaints: article.querySelectorAll(".system-message, .contents:not(.toctree-wrapper)").length,
    height: article.getBoundingClientRect().height,
    pictures: article.querySelectorAll("img, svg, iframe").length,
    contents: [...document.querySelectorAll(lists)].filter(isSeen).map(countLinks),
    cut: [...article.querySelectorAll("pre:not(.cell_output *)")].filter(isCut).length,
  };
}"""


def _find_reason_to_skip() -> str:
    stamp = ROOT / "build" / "site.stamp"
    if not stamp.exists():
        return "the site is not built; run ./dev site"
    sources = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "docs" / "static").iterdir()]
    newer = [path for path in sources if path.stat().st_mtime > stamp.stat().st_mtime]
    return f"the site is older than {newer[0].relative_to(ROOT)}; run ./dev site" if newer else ""


_REASON = _find_reason_to_skip()
pytestmark = [pytest.mark.skipif(bool(_REASON), reason=_REASON), pytest.mark.slow]


def list_pages() -> list[Path]:
    """Returns the pages that are made from files of docs."""
    sources = sorted((ROOT / "docs").rglob("*.md"))
    return [SITE / path.relative_to(ROOT / "docs").with_suffix(".html") for path in sources]


class Page(HTMLParser):
    """Collects what a page links to, what it loads, and the places that links may lead to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.ids: set[str] = set()
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.ids |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in ("img", "script", "iframe", "source") and "src" in values:
            self.loads.append(values["src"])
        if tag == "link" and values.get("rel") in ("stylesheet", "icon"):
            self.loads.append(values["href"])


def test_every_page_of_the_docs_is_built() -> None:
    pages = list_pages()
    assert [path for path in pages if not path.exists()] == []
    assert len(pages) > 100


def test_links_lead_to_pages_and_places_that_exist() -> None:
    pages = {path: Page(path) for path in list_pages()}
    faults = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                faults.append(f"{path.relative_to(SITE)}: {link}")
            elif (
                parts.fragment
                and target in pages
                and unquote(parts.fragment) not in pages[target].ids
            ):
                faults.append(f"{path.relative_to(SITE)}: {link} has no such place")
    assert faults == []


def test_pages_load_nothing_from_elsewhere() -> None:
    faults = []
    for path in [*list_pages(), *SITE.glob("*.html")]:
        for address in Page(path).loads:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc or not (path.parent / unquote(parts.path)).exists():
                faults.append(f"{path.relative_to(SITE)}: {address}")
    assert faults == []


# ---- in a browser --------------------------------------------------------------------------------


class _Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    handler = functools.partial(_Handler, directory=str(SITE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=_CHROMIUM, args=_ARGUMENTS)
        yield chromium
        chromium.close()


class Tab:
    """A tab of the browser that notes requests to elsewhere and errors of scripts."""

    def __init__(self, browser: Any, address: str, size: tuple[int, int]) -> None:
        self.page = browser.new_page(viewport={"width": size[0], "height": size[1]})
        self.faults: list[str] = []
        self._address = address
        self.page.on("request", self._check)
        self.page.on("pageerror", lambda error: self.faults.append(f"{self.page.url}: {error}"))

    def _check(self, request: Any) -> None:
        if not request.url.startswith((self._address, "data:", "blob:")):
            self.faults.append(f"{self.page.url} asks for {request.url}")

    def open(self, name: str) -> Any:
        self.page.goto(self._address + name)
        return self.page


def measure(tab: Tab) -> dict[str, dict[str, Any]]:
    """Opens all pages without their replays, and returns what they show."""
    # Nothing comes into view, so no replay starts.
    script = "class Blind { observe() {} unobserve() {} disconnect() {} }"
    tab.page.add_init_script(f"{script} window.IntersectionObserver = Blind;")
    found = {}
    for path in [*list_pages(), SITE / "genindex.html"]:
        name = str(path.relative_to(SITE))
        found[name] = tab.open(name).evaluate(_MEASURE)
    return found


@needs_browser
@_SIZES
def test_pages_fit_and_show_their_pictures_and_formulas(
    browser: Any, address: str, size: tuple[int, int]
) -> None:
    tab = Tab(browser, address, size)
    faults = tab.faults
    for name, shown in measure(tab).items():
        if shown["excess"] > 0:
            faults.append(f"{name} is {shown['excess']} px wider than the screen")
        faults += [f"{name}: the picture {picture} is broken" for picture in shown["broken"]]
        if shown["empty"] or shown["tex"]:
            faults.append(f"{name}: {shown['empty']} formulas are not drawn")
        if shown["complaints"]:  # furo draws one in place of a contents directive
            faults.append(f"{name}: the theme or Sphinx complains in the text")
        # A length is that of the text from the title to the end, without header and footer.
        screens = shown["height"] / size[1]
        if (
            screens > _MAX_SCREENS
            and not shown["pictures"]
            and max(shown["contents"], default=0) < 2
        ):
            faults.append(f"{name}: {screens:.1f} screens without a picture or contents")
        if len(shown["contents"]) > 1:
            faults.append(f"{name} shows its contents twice")
        if (
            size != _PHONE
            and shown["cut"]
            and name.startswith(("index", "installation", "tutorial/"))
        ):
            faults.append(f"{name}: {shown['cut']} blocks of code must be scrolled")
    tab.page.close()
    assert faults == []


@needs_browser
@pytest.mark.parametrize("size", [_DESKTOP, _PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize(
    ("words", "title"),
    [
        ("stiction_tolerance", "Options"),
        ("taxels", "Taxels"),
        ("make_simulator", "Scenes and steps"),
    ],
)
def test_a_word_that_is_searched_leads_to_its_page(
    browser: Any, address: str, size: tuple[int, int], words: str, title: str
) -> None:
    tab = Tab(browser, address, size)
    page = tab.open("installation.html")
    if size == _PHONE:
        page.locator("label.nav-overlay-icon").first.click()  # the menu, which has the field
    page.locator(".sidebar-search").fill(words)
    page.locator(".sidebar-search").press("Enter")
    link = page.locator("ul.search").get_by_role("link", name=title, exact=True).first
    link.wait_for(timeout=20_000)
    link.click()
    page.wait_for_selector("article h1")
    assert title in page.locator("article h1").inner_text()
    assert tab.faults == []
    page.close()


def search(tab: Tab, query: str) -> list[tuple[str, str]]:
    """Returns the addresses and titles of the first five pages that the site finds."""
    page = tab.open(f"search.html?q={query.replace(' ', '+')}")
    page.locator("ul.search li").first.wait_for(timeout=20_000)
    page.wait_for_function(
        "!document.querySelector('#search-progress, .search-summary')?.innerText.includes('...')"
    )
    links = page.locator("ul.search li > a").all()[:5]
    found = [(link.get_attribute("href") or "", link.inner_text()) for link in links]
    page.close()
    return found


@needs_browser
@pytest.mark.parametrize(
    ("word", "guides"),
    [
        ("hydroelastic", {"Pressure fields", "From Drake", "Contact properties"}),
        ("stiction_tolerance", {"Contact models", "Options", "Friction laws"}),
        ("patch", {"4. From points to patches", "Viewer", "Gallery", "Pressure fields"}),
    ],
)
def test_guides_stand_before_the_reference(
    browser: Any, address: str, word: str, guides: set[str]
) -> None:
    tab = Tab(browser, address, _DESKTOP)
    found = search(tab, word)
    assert len(found) == 5
    assert not any("/api/" in href or href.startswith("api/") for href, _ in found)
    assert guides & {text for _, text in found}, found
    assert tab.faults == []


@needs_browser
@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("creep", "creep.html"),
        ("my gripper slips", "tutorial/own_model.html"),
        ("gripper slips", "creep.html"),
        ("elastic", "anchors.html"),
        ("Simulator", "api/python/scenes.html"),
        ("time step", "tools/converge.html"),
        ("error control", "error_control.html"),
        ("grasp", "tools/grasp.html"),
        ("keyframe", "tutorial/own_model.html"),
        ("install", "installation.html"),
        ("impratio", "from_mujoco.html"),
        ("stiction_tolerance", "options.html"),
        ("recording", "recordings.html"),
        ("taxels", "taxels.html"),
    ],
)
def test_a_question_leads_to_the_page_that_answers_it(
    browser: Any, address: str, query: str, page: str
) -> None:
    tab = Tab(browser, address, _DESKTOP)
    found = search(tab, query)
    assert found[0][0].partition("#")[0].partition("?")[0] == page, found
    assert tab.faults == []


@needs_browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_replay_is_dark_where_the_page_is(browser: Any, address: str, theme: str) -> None:
    tab = Tab(browser, address, _DESKTOP)
    tab.page.add_init_script(f"localStorage.setItem('theme', '{theme}')")
    page = tab.open("index.html")
    frame = page.frame_locator(".replay iframe")
    frame.locator("canvas").first.wait_for(timeout=30_000)
    background = "getComputedStyle(document.documentElement).backgroundColor"
    color = frame.locator("body").evaluate(f"() => {background}")
    assert color == {"light": "rgb(255, 255, 255)", "dark": "rgb(36, 36, 36)"}[theme]
    assert tab.faults == []
    page.close()


@needs_browser
def test_the_start_page_replays_patches(browser: Any, address: str) -> None:
    tab = Tab(browser, address, _DESKTOP)
    page = tab.open("index.html")
    frame = page.frame_locator(".replay iframe")
    frame.get_by_text("contact pressure").wait_for(timeout=30_000)
    frame.locator("canvas").first.wait_for(timeout=30_000)
    assert tab.faults == []
    page.close()


@needs_browser
def test_a_button_puts_a_replay_in_the_place_of_a_picture(browser: Any, address: str) -> None:
    tab = Tab(browser, address, _PHONE)
    page = tab.open("gallery.html")
    assert page.locator("iframe").count() == 0
    page.locator("button[data-replay]").first.click()
    frame = page.frame_locator(".replay iframe")
    frame.locator("canvas").first.wait_for(timeout=30_000)
    # On an upright phone the legend stands below the scene and its controls, within the frame.
    scene = frame.locator("#root").bounding_box()
    legend = frame.locator("#stiction").bounding_box()
    outer = page.locator(".replay iframe").bounding_box()
    assert scene["y"] + scene["height"] <= legend["y"]
    assert legend["y"] + legend["height"] <= outer["y"] + outer["height"]
    assert scene["height"] > scene["width"] / 2
    assert page.evaluate("document.documentElement.scrollWidth") == _PHONE[0]
    assert tab.faults == []
    page.close()
