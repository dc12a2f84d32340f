"""Registries: what other packages add, what may be imported, and what an error says."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from seqlab.backbones.recurrent import Gru
from seqlab.errors import UsageError
from seqlab.registry import BACKBONES, CORPORA, TASKS, TOKENIZERS, allow_plugin
from seqlab.registry.plugins import installed

Install = Callable[[str, str, str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Writes a module, and the metadata of a package that provides it."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("SEQLAB_PLUGINS", "")

    def write(module: str, code: str, points: str) -> None:
        (tmp_path / f"{module}.py").write_text(code, encoding="utf-8")
        info = tmp_path / f"{module}_package-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}-package\nVersion: 1.2\n")
        (info / "entry_points.txt").write_text(points, encoding="utf-8")
        monkeypatch.delitem(sys.modules, module, raising=False)
        installed.cache_clear()

    yield write
    installed.cache_clear()


GRU = "from seqlab.backbones.recurrent import Gru\nclass Mine(Gru): pass\n"


def test_an_entry_point_is_listed_without_being_imported_and_loaded_by_name(install: Install) -> None:
    install("plugin_one", GRU, "[seqlab.architectures]\nlstm = plugin_one:Mine\nmine = plugin_one:Mine\n")
    assert list(BACKBONES)[-1] == "mine" and "mine" in BACKBONES
    assert BACKBONES.about("mine") == "from plugin_one-package 1.2"
    assert "plugin_one" not in sys.modules
    assert issubclass(BACKBONES.load("mine"), Gru)
    assert BACKBONES.settings("mine") is Gru.Settings
    assert BACKBONES.load("lstm") is not BACKBONES.load("mine")  # a name of this package is never replaced
    assert BACKBONES.canonical("plugin_one:Mine") == "mine"
    assert BACKBONES.load("plugin_one:Mine") is BACKBONES.load("mine")
    assert "mine" not in BACKBONES.compared()


def test_an_entry_point_may_name_an_entry(install: Install) -> None:
    code = (
        "from seqlab.registry import Entry\n"
        "def words(): pass\n"
        "entry = Entry('plugin_two:words', 'some words', default_overrides={'task.name': 'tag'})\n"
    )
    install("plugin_two", code, "[seqlab.corpora]\nwords = plugin_two:entry\n")
    assert CORPORA.load("words").__name__ == "words"
    assert CORPORA.default_overrides("words") == {"task.name": "tag"}


@pytest.mark.parametrize(
    ("code", "reason"),
    [("import no_such_module\n", "ModuleNotFoundError: No module named 'no_such_module'"), ("", "has no attribute")],
)
def test_what_cannot_be_loaded_names_its_package(install: Install, code: str, reason: str) -> None:
    install("plugin_three", code, "[seqlab.architectures]\nbroken = plugin_three:Broken\n")
    with pytest.raises(UsageError) as refused:
        BACKBONES.load("broken")
    assert reason in str(refused.value)
    assert "plugin_three-package 1.2: repair, update or uninstall" in str(refused.value)


def test_a_path_needs_permission(install: Install) -> None:
    install("plugin_four", GRU, "")
    with pytest.raises(UsageError, match=r"nothing here allows importing it\. .*SEQLAB_PLUGINS=plugin_four:Mine"):
        BACKBONES.load("plugin_four:Mine")
    assert "plugin_four:Mine" not in BACKBONES and "plugin_four" not in sys.modules
    allow_plugin("plugin_four:Mine")
    assert "plugin_four:Mine" in BACKBONES
    assert issubclass(BACKBONES.load("plugin_four:Mine"), Gru)
    with pytest.raises(UsageError, match="nothing here allows"):
        BACKBONES.load("plugin_five:Other")
    for name, remedy in {
        "plugin_four:Mime": "Did you mean 'plugin_four:Mine'?",
        "nowhere_1:A": "on PYTHONPATH.",
    }.items():
        allow_plugin(name)
        with pytest.raises(UsageError) as refused:
            BACKBONES.load(name)
        assert str(refused.value).endswith(remedy)


def test_an_imported_module_lends_its_classes_and_nothing_else(install: Install) -> None:
    install("plugin_six", GRU, "")
    __import__("plugin_six")
    assert issubclass(BACKBONES.load("plugin_six:Mine"), Gru)
    with pytest.raises(UsageError, match=r"expected a class that derives from seqlab\.contracts\.Backbone"):
        BACKBONES.load("os:system")
    with pytest.raises(UsageError, match=r"derives from seqlab\.tokenization\.tokenizer\.Tokenizer"):
        TOKENIZERS.settings("plugin_six:Mine")
    with pytest.raises(UsageError, match="nothing here allows importing it"):
        CORPORA.load("os:system")


def test_an_alias_is_another_name() -> None:
    assert TASKS.canonical("rewrite") == TASKS.canonical("translate") == "translate"
