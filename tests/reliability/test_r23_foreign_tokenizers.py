"""R23: a tokenizer.json with anything in it that seqlab does not write is refused when a run is loaded.

tests/text has the tokenizers by themselves; here the manifest vouches for the file, as that of a hostile run would.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reliability_runs import Answer, apart, resume, train

from seqlab import api
from seqlab.errors import DataError
from seqlab.registry import TOKENIZERS
from seqlab.runs.directory import RunDirectory

REGEX = {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated", "invert": False}
TEMPLATE = "{{ ''.__class__.__mro__[1].__subclasses__() }}"
COMPONENTS: dict[str, dict[str, Any]] = {
    "a pre-tokenizer with a regex": {"pre_tokenizer": REGEX},
    "a normalizer with a regex": {"normalizer": {"type": "Replace", "pattern": {"Regex": "(a+)+$"}, "content": ""}},
    "a post-processor": {"post_processor": {"type": "TemplateProcessing", "single": TEMPLATE}},
    "a decoder": {"decoder": {"type": "Replace", "pattern": {"Regex": ".*"}, "content": ""}},
    "added tokens": {"added_tokens": [{"id": 0, "content": "<s>", "special": True}]},
    "a chat template": {"chat_template": TEMPLATE},
    "code to be imported": {"auto_map": {"AutoTokenizer": "evil.Tokenizer"}},
    "a model of another library": {"model": {"type": "BPE", "vocab": {}, "merges": []}},
    "another format": {"format": "huggingface"},
    "another name": {"name": "sentencepiece"},
    "a name that is a path": {"name": "seqlab.tokenization.char:CharTokenizer"},
    "a version from the future": {"version": 2},
}


@pytest.fixture(scope="module", params=list(TOKENIZERS))
def run_of(request: pytest.FixtureRequest, text: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tokenizer")
    with apart(folder):
        return train(text, folder / "run", tokenizer=request.param, steps=1)


def test_foreign_components_are_refused(run_of: Path) -> None:
    path = run_of / "tokenizer.json"
    intact = path.read_bytes()
    for what, component in COMPONENTS.items():
        RunDirectory(run_of).write_file("tokenizer.json", json.dumps({**json.loads(intact), **component}).encode())
        for use in (api.load, resume):
            with pytest.raises(DataError, match=r"tokenizer\.json"):
                use(run_of)
                raise AssertionError(what)
    RunDirectory(run_of).write_file("tokenizer.json", intact)
    assert api.load(run_of).generate("the", 3)


def test_it_is_refused_as_a_run_to_start_from(tiny_run: Path, text: Path, command: Callable[..., Answer]) -> None:
    content = json.loads((tiny_run / "tokenizer.json").read_text())
    RunDirectory(tiny_run).write_file("tokenizer.json", json.dumps({**content, "pre_tokenizer": REGEX}).encode())
    for arguments in (["train", text, "--init", tiny_run], ["generate", tiny_run], ["evaluate", tiny_run]):
        answer = command(*arguments)
        assert answer.code == 65 and "pre_tokenizer" in answer.err


def test_a_tokenizer_of_another_size_does_not_fit_the_weights(tiny_run: Path) -> None:
    content = json.loads((tiny_run / "tokenizer.json").read_text())
    for characters in (content["characters"][:-1], [*content["characters"], "\U0010ffff"]):
        RunDirectory(tiny_run).write_file("tokenizer.json", json.dumps({**content, "characters": characters}).encode())
        with pytest.raises(DataError, match=r"model\.safetensors"):
            api.load(tiny_run)
