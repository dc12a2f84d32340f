"""The report is a function of the results alone, loads nothing, runs nothing, and shows every result."""

import base64
import hashlib
import math
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from comparison_cases import COUNTED, MODELS, realistic, replaced

from seqlab.comparison.report import write_report
from seqlab.comparison.report.clean import cleaned
from seqlab.comparison.report.page import page
from seqlab.comparison.report.table import markdown, table
from seqlab.comparison.results import Results, Trial, read_comparison, write_comparison

SECTIONS = (
    "verdict", "pairs", "table", "curves", "positions", "distances", "samples", "memorization", "rates", "baselines",
    "fairness", "audit", "settings", "machine", "repeat",
)  # fmt: skip
FILES = {f"{name}.{kind}" for name in ("lenses", "positions", "pairs", "distances") for kind in ("png", "svg")}
PARTS = {"svg", "defs", "style", "g", "path", "use", "text", "clipPath", "rect"}  # of a chart
PAYLOADS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'><svg/onload=alert(1)>",
    "</style></title></pre></textarea><script src=//evil.example/x.js></script>",
    "<iframe src=javascript:alert(1)>&lt;b&gt;&#60;i&#62;",
    "<!-- --> ]]> <?php ?> <![CDATA[",
    "{{ 7 * 7 }}{% include 'x' %}{# #}",
    '<meta http-equiv="refresh" content="0;url=https://evil.example">',
    "![x](https://evil.example/x.png) | `a` | *b*\n| c |",
    "$x_{$ \\frac % _name 漢字",
    "\x00\x07\x1b[31m\x7f\x85\u202eevil\ud800\ufffe",
]


class Parsed(HTMLParser):
    """Elements by name, their attributes, all text, and the rows of tables."""

    def __init__(self, html: str):
        super().__init__(convert_charrefs=True)
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.text, self.style = "", ""
        self.rows: list[list[str]] = []
        self._in_style = self._in_cell = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self._in_style = tag == "style"
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self._in_cell = True
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self._in_style = False
        self._in_cell = self._in_cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._in_style:
            self.style += data
            return
        self.text += data
        if self._in_cell:
            self.rows[-1][-1] += data

    @property
    def pictures(self) -> list[ElementTree.Element]:
        """The charts: SVG without anything that runs or refers to something outside of it."""
        sources = [value for tag, name, value in self.attributes if (tag, name) == ("img", "src")]
        pictures = [ElementTree.fromstring(unquote(source.removeprefix("data:image/svg+xml,"))) for source in sources]
        for element in (element for picture in pictures for element in picture.iter()):
            assert element.tag.rpartition("}")[2] in PARTS
            for name, value in element.attrib.items():
                assert not name.startswith("on") and (not name.endswith("href") or value.startswith("#")), name
        return pictures

    @property
    def policy(self) -> str:
        return next(value for tag, name, value in self.attributes if tag == "meta" and "default-src" in value)


def shown(results: Results) -> str:
    return page(cleaned(results))


def few(seeds: int = 2) -> Results:
    """Two models of unlike kinds: as much to show as with four, but fewer charts to draw."""
    return realistic(seeds, names=("rnn", "transformer"))


def hostile(payload: str) -> Results:
    return replaced(few(), lambda text: text + payload)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    assert write_report(realistic(), folder) == folder / "report.html"
    return folder


@pytest.fixture(scope="module")
def harmless() -> Parsed:
    return Parsed(shown(realistic()))


@pytest.fixture(scope="module")
def harmless_few() -> Parsed:
    return Parsed(shown(few()))


def test_the_same_results_give_the_same_bytes(written: Path, tmp_path: Path) -> None:
    write_comparison(realistic(), tmp_path)
    write_report(read_comparison(tmp_path), tmp_path)
    files = ["report.html", "table.md", *(f"figures/{name}" for name in sorted(FILES))]
    assert {path.name for path in (written / "figures").iterdir()} == FILES
    for name in files:
        assert (written / name).read_bytes() == (tmp_path / name).read_bytes(), name
    other = replace(realistic(), date="2026-11-17T00:00:00Z")
    assert shown(other) != (written / "report.html").read_text(encoding="utf-8")


def test_figures_are_pictures(written: Path) -> None:
    for name in FILES:
        content = (written / "figures" / name).read_bytes()
        if name.endswith("png"):
            width, height = (int.from_bytes(content[at : at + 4]) for at in (16, 20))
            assert content[:8] == b"\x89PNG\r\n\x1a\n" and width > 1000 and height > 400
        else:
            assert ElementTree.fromstring(content).tag.endswith("svg") and b"<script" not in content


def test_nothing_is_loaded_and_nothing_runs(harmless: Parsed) -> None:
    parsed = harmless
    assert not {"script", "link", "iframe", "object", "embed", "base", "svg", "image", "use"} & set(parsed.tags)
    for tag, name, value in parsed.attributes:
        assert not name.startswith("on") and name not in ("srcset", "style", "action", "xlink:href"), (tag, name)
        assert name != "href" or re.fullmatch(r"#[a-z]+", value)
        assert "://" not in value.replace("http://www.w3.org/", "")  # XML namespaces
    assert parsed.tags["img"] == 4 + 1 + 2 + 4 + 1 and len(parsed.pictures) == 12
    assert "url(" not in parsed.style and "@import" not in parsed.style and "://" not in parsed.style
    digest = base64.b64encode(hashlib.sha256(parsed.style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in parsed.policy
    assert "default-src 'none'" in parsed.policy and "unsafe" not in parsed.policy and "script-src" not in parsed.policy


@pytest.mark.parametrize("payload", PAYLOADS, ids=ascii)
def test_strings_stay_strings(payload: str, harmless_few: Parsed) -> None:
    """In every field: the page has the same elements and attributes as without them, and the given text."""
    results = hostile(payload)
    html = shown(results)
    parsed = Parsed(html)
    assert parsed.tags == harmless_few.tags
    assert Counter((tag, name) for tag, name, _ in parsed.attributes) == Counter(
        (tag, name) for tag, name, _ in harmless_few.attributes
    )
    assert parsed.policy == harmless_few.policy
    safe, text = cleaned(results), " ".join(parsed.text.split())
    for given in (
        safe.corpus["name"], safe.corpus["about"], safe.protocol["tokenizer"], safe.estimand, safe.command,
        safe.entrants[0].name, *safe.entrants[0].settings, safe.baselines[0].name,
        safe.baselines[0].about, safe.pairs[0].sentence, safe.baseline_pairs[0].sentence,
        safe.recommendation[0].sentence, safe.recommendation[1].sentence, safe.best.path, safe.samples[0].prompt,
        safe.samples[0].text,
        safe.memorization[0].longest_text, safe.audits[0].checks[0].name, safe.audits[0].checks[0].detail,
        *safe.ledger.equal, *safe.ledger.equal.values(), *safe.ledger.unequal, safe.warnings[0], safe.machine,
        *safe.versions, *safe.versions.values(), safe.metric.label, safe.plan["match"],
    ):  # fmt: skip
        assert " ".join(given.split()) in text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", html)
    assert len(parsed.pictures) == len(harmless_few.pictures)
    drawn = [element.text or "" for picture in parsed.pictures for element in picture.iter()]
    assert any(text.startswith(" ".join(safe.pairs[0].a.split())[:20]) for text in drawn)


def test_hostile_figures(tmp_path: Path) -> None:
    write_report(hostile("".join(PAYLOADS)), tmp_path)
    for name in FILES:
        assert (tmp_path / "figures" / name).stat().st_size > 5000
    for path in (tmp_path / "figures").glob("*.svg"):
        tags = {element.tag.rpartition("}")[2] for element in ElementTree.parse(path).iter()}
        assert not tags & {"script", "image", "a", "foreignObject", "iframe"}
    (tmp_path / "report.html").read_text(encoding="utf-8")
    (tmp_path / "table.md").read_text(encoding="utf-8")


def test_every_section_is_there_and_reached(harmless: Parsed) -> None:
    parsed, results = harmless, realistic()
    ids = [value for _, name, value in parsed.attributes if name == "id"]
    # in the contents are sections only; what to beware of and what is estimated stand within the first two
    assert ids == ["verdict", "caution", "pairs", "estimand", *SECTIONS[2:]]
    links = {value for _, name, value in parsed.attributes if name == "href"}
    assert links == {f"#{section}" for section in SECTIONS[1:]}
    order = [
        *(advice.sentence for advice in results.recommendation), "Every model is better", results.warnings[0],
        results.pairs[0].sentence, results.estimand, "Four lenses", "Generated at temperature", "occurs verbatim",
        results.baselines[0].about, "Fairness ledger", results.command,
    ]  # fmt: skip
    text = parsed.text
    places = [text.index(words, text.index(order[0])) for words in order]
    assert places == sorted(places)


def cells(parsed: Parsed, name: str) -> list[str]:
    return next(row for row in parsed.rows if row and row[0].strip().startswith(name)).copy()


def test_the_table_has_every_number(harmless: Parsed) -> None:
    """Computed here from the runs, not by the code of the table."""
    results = realistic()
    for name, (_, core, step, flops, _, _) in MODELS.items():
        runs = results.runs_of(name)
        mean = sum(run.value for run in runs) / 3
        spread = math.sqrt(sum((run.value - mean) ** 2 for run in runs) / 2)
        carried = f"{sum(run.carried or 0 for run in runs) / 3:.4f}" if name != "transformer" else "–"
        writing = ["1,210", "640", "80.1 KiB", "800.8 KiB"] if name == "transformer" else ["3,105", "3,098"]
        row = cells(harmless, name)
        low, high = map(float, row.pop(2).split(" to "))
        assert low < mean - spread / math.sqrt(3) < mean + spread / math.sqrt(3) < high
        assert row[1:] == [
            f"{mean:.4f} ± {spread:.4f}", "3", f"{mean / math.log(2):.4f}", f"{math.exp(mean):.2f}", carried,
            f"{core + 4160 + 4225:,}", f"{core:,}", "4,160", "4,225",
            f"{flops / 1e6:.2f}M", f"{4000 * step:,.0f}", f"{4096 / step:,.0f}",
            "392.9 MiB", *writing, *(["2.2 KiB", "2.2 KiB"] if len(writing) == 2 else []),
        ]  # fmt: skip


def test_the_best_is_first_and_baselines_follow(harmless: Parsed) -> None:
    results = realistic()
    shown_table = table(results)
    assert [row.name for row in shown_table.rows] == ["transformer", "lstm", "gru", "rnn", COUNTED, "xz", "unigram"]
    assert [line[0] for line in shown_table.lines()][4] == f"{COUNTED} (baseline)"
    assert cells(harmless, COUNTED)[:6] == [f"{COUNTED} baseline", "1.7370", "", "", "2.5060", "5.68"]
    upside_down = replace(results, metric=replace(results.metric, lower_is_better=False))
    names = [row.name for row in table(upside_down).rows]
    assert names == ["rnn", "gru", "lstm", "transformer", "unigram", "xz", COUNTED]


@pytest.mark.parametrize("payload", ["", *PAYLOADS], ids=ascii)
def test_table_md_is_a_table(payload: str) -> None:
    """As GitHub reads it: cells end at pipes that no backslash precedes."""
    results = cleaned(hostile(payload))
    lines = [line for line in markdown(results).splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    assert len(rows) == 2 + 2 + 3 and {len(row) for row in rows} == {len(table(results).headers)}
    assert re.fullmatch(r"\|( -{3}:? \|)+", lines[1])
    read = re.sub(r"\\(.)", r"\1", rows[2][0])
    for entity, character in (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        read = read.replace(entity, character)
    assert read == " ".join(table(results).rows[0].name.split())
    assert not re.search(r"(?<!\\)[`*_\[\]<>]", "".join(rows[2]))


def test_size_is_bounded_whatever_the_strings_and_curves() -> None:
    results = realistic()
    assert len(shown(results).encode()) < 200_000
    curve = [{"step": float(step), "train_loss": 2.0, "validation_loss": 2.0 + 1 / step} for step in range(1, 4000)]
    samples = [replace(sample, text="<" * 1_000_000) for sample in results.samples]
    runs = [replace(run, curve=curve, loss_by_position=[2.0] * 8000) for run in results.runs]
    html = shown(replace(results, runs=runs, samples=samples, command="&" * 10**6))
    assert len(html.encode()) < 2_000_000
    assert "(1,000,000 characters in all)" in html


BARE = {
    "one seed": lambda: few(seeds=1),
    "one entrant": lambda: realistic(names=("lstm",)),
    "no baselines": lambda: replace(few(), baselines=[], baseline_pairs=[]),
    "baselines without numbers": lambda: replace(
        few(),
        baselines=[
            replace(baseline, metrics=dict.fromkeys(baseline.metrics, math.nan), value=math.nan)
            for baseline in few().baselines
        ],
    ),
    "nothing beside the runs": lambda: replace(
        few(), trials=[], samples=[], memorization=[], audits=[], distances=[], warnings=[], recommendation=[], pairs=[]
    ),
    "no curves": lambda: replace(
        few(), runs=[replace(run, curve=[], loss_by_position=[]) for run in few().runs]
    ),
    "one evaluation": lambda: replace(
        few(), runs=[replace(run, curve=run.curve[:1], loss_by_position=[2.0]) for run in few().runs]
    ),
    "no runs": lambda: replace(few(), runs=[], pairs=[], baseline_pairs=[]),
    "diverged": lambda: replace(
        few(),
        runs=[
            replace(
                run, value=math.inf, metrics=dict.fromkeys(run.metrics, math.inf), loss_by_position=[math.nan] * 9,
                curve=[
                    {"step": 0.0, "validation_loss": 4.0}, {"step": 9.0, "validation_loss": 1e30},
                    {"step": 99.0, "validation_loss": math.nan},
                ]
            ) if run.name == "rnn" else run
            for run in few().runs
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BARE)
def test_whatever_is_missing(case: str, tmp_path: Path) -> None:
    results = BARE[case]()
    html = write_report(results, tmp_path).read_text(encoding="utf-8")
    parsed = Parsed(html)
    assert set(SECTIONS) <= {value for _, name, value in parsed.attributes if name == "id"}
    for element in (element for picture in parsed.pictures for element in picture.iter()):
        numbers = " ".join(element.get(name, "") for name in ("d", "x", "y"))
        assert not re.search(r"nan|inf|e[+]|\d{4}", numbers)
    assert "None" not in parsed.text and "nan" not in parsed.text.replace("finance", "")


def test_trials_of_more_than_the_rate_are_a_table() -> None:
    tried = [{"train.lr": 0.01, "task.batch_size": 32}, {"train.lr": 0.003, "task.batch_size": 16}]
    trials = [Trial("lstm", settings, loss, loss == 1.5) for settings, loss in zip(tried, (None, 1.5), strict=True)]
    rows = Parsed(shown(replace(realistic(), trials=trials))).rows
    assert ["", "0.01", "32", "failed"] in rows and ["chosen", "0.003", "16", "1.5000"] in rows
