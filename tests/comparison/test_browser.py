"""The report in a browser, where there is one: no string runs, and the page never scrolls sideways."""

import html
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from comparison_cases import realistic, replaced

from seqlab.comparison.report.clean import cleaned
from seqlab.comparison.report.page import page

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
# each would change the title of the page, were it to run
RUNS = (
    "<script>document.title='RAN'</script>",
    '"><img src=x onerror="document.title=\'RAN\'">',
    "</style></title></pre></svg><svg onload=\"document.title='RAN'\">",
)
# looks into the page from outside, for the page itself may run nothing
LOOK = """<iframe id=f src=report.html style="width:{width}px;height:900px;border:0"></iframe><p id=found></p>
<script>onload = () => {{ const d = f.contentDocument, s = d.querySelector('.swatch');
found.textContent = [d.scrollingElement.scrollWidth, getComputedStyle(d.body).maxWidth, getComputedStyle(s).color,
[...d.images].filter(i => i.naturalWidth > 0).length, d.title].join(' | ') }}</script>"""


@pytest.mark.skipif(BROWSER is None, reason="there is no browser here")
@pytest.mark.parametrize("width", [340, 800, 1400])
def test_strings_do_not_run_and_the_page_fits(width: int, tmp_path: Path) -> None:
    results = replaced(realistic(), lambda text: text + "_without_any_space_in_it" * 3 + "".join(RUNS))
    (tmp_path / "report.html").write_text(page(cleaned(results)), encoding="utf-8")
    (tmp_path / "look.html").write_text(LOOK.format(width=width), encoding="utf-8")
    command = [
        str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--dump-dom",
        "--allow-file-access-from-files", f"--user-data-dir={tmp_path / 'profile'}", (tmp_path / "look.html").as_uri(),
    ]  # fmt: skip
    shown = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False).stdout
    result = re.search(r'<p id="found">(.*?)</p>', shown, flags=re.DOTALL)
    assert result, "the browser did not come up"
    across, limit, color, pictures, title = html.unescape(result[1]).split(" | ", 4)
    assert int(across) <= width
    assert limit.endswith("px") and color.startswith("rgb(")  # the style passed its own policy
    assert int(pictures) == 10  # the browser draws every chart
    assert title != "RAN" and title.endswith("models compared")
