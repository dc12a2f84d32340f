"""HTML pages that are one file: clean strings, pictures inside, nothing loaded, and nothing run but their own script.

page.css is the style that all pages share. Templates escape markup; `clean_text` removes what escaping cannot handle.
"""

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from seqlab.plotting import figure_bytes

LONGEST = 4000  # characters of one string
# Unicode has visible symbols for control characters
PICTURES = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"} | {0x7F: 0x2421}
# the other control characters, surrogates, marks that change the writing direction, and noncharacters
FORBIDDEN = re.compile("[\x80-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff]")
# in the tags of an SVG: the ids of groups, rotations by nothing, fonts, and digits after the second decimal
UNNEEDED = re.compile(r' id="[\w.]+_\d+"| transform="rotate\(-0 [^"]*"|; font-family: [^;"]*|(?<=\.\d\d)\d+')
UNQUOTED = " !$&'()*+,/:;=?@"  # characters that a data URI contains as they are


def clean_text(text: str) -> str:
    """Without characters that HTML and XML forbid or that reverse the direction of writing, and not too long."""
    shown = FORBIDDEN.sub("\ufffd", text[:LONGEST].translate(PICTURES))
    return shown if len(text) <= LONGEST else f"{shown}… ({len(text):,} characters in all)"


@dataclass(frozen=True)
class Picture:
    """An image within the page: its data URI, and what it shows in words."""

    source: str
    alt: str


def picture(figure: Any, alt: str) -> Picture:
    """The figure as SVG of few bytes, its text in the font of the page."""
    svg = figure_bytes(figure, "svg", text="none", transparent=True).decode()
    svg = svg[svg.index("<svg") :].replace("<svg", '<svg font-family="system-ui, sans-serif"', 1)
    # names are outside of tags, because matplotlib escapes < and >
    svg = re.sub("<[^>]+>", lambda tag: UNNEEDED.sub("", tag[0]), svg)
    svg = re.sub(r"\s*\n\s*", " ", svg).replace("> <", "><")
    return Picture(f"data:image/svg+xml,{quote(svg, safe=UNQUOTED)}", alt)


def page_environment(folder: Path) -> Environment:
    """Templates of a folder; every string is escaped, and a name that is not defined is an error."""
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def page_style(*own: str) -> str:
    """The style of a page: what all pages share, and then its own."""
    return Path(__file__).with_name("page.css").read_text(encoding="utf-8") + "".join(own)


def policy(style: str, script: str | None = None, inner: Sequence[str] = ()) -> str:
    """Nothing may be loaded or run, except the style and the script with these hashes and pictures inside the page.

    inner: pages in frames of this one, which is allowed what their policies allow, because they inherit from it."""
    told = [unescape(page) for page in inner]
    styles = {f"'{_digest(style)}'": None} | dict.fromkeys(hashed for page in told for hashed in _hashes("style", page))
    own = {} if script is None else {f"'{_digest(script)}'": None}
    scripts = own | dict.fromkeys(hashed for page in told for hashed in _hashes("script", page))
    script_source = f" script-src {' '.join(scripts)};" if scripts else ""
    style_source = f"style-src {' '.join(styles)};"
    return f"default-src 'none'; {style_source}{script_source} img-src data:; base-uri 'none'; form-action 'none'"


def _hashes(kind: str, page: str) -> list[str]:
    """Those that the policy of a page names."""
    named = re.search(rf"{kind}-src ([^;]+);", page[: page.index("<style")])
    return named[1].split() if named else []


def _digest(content: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"
