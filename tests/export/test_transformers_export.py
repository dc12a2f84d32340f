"""A Transformer that the `transformers` library loads as one of its own, with the same logits."""

from pathlib import Path
from typing import Any

import pytest
import torch

from seqlab import api
from seqlab.errors import UsageError

transformers = pytest.importorskip("transformers")
TEXT = "".join(f"The {w} sat on the {v}.\n" for w in ("cat", "dog", "hen") for v in ("mat", "hut", "sea")) * 30


def trained(folder: Path, arch: str = "transformer", steps: int = 40, **more: Any) -> Any:
    (folder / "my.txt").write_text(TEXT, encoding="utf-8")
    small: dict[str, Any] = {"hidden": 32, "batch_size": 8, "window": 24, "threads": 1, "steps": steps}
    small["sample_tokens"] = 0
    own = {"model.embedding": 32} | ({"backbone.heads": 2, "backbone.layers": 2} if arch == "transformer" else {})
    return api.train(folder / "my.txt", arch=arch, out=folder / "run", settings={**own, **more}, **small)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"backbone.positions": "learned", "backbone.context": 40},
        {"backbone.positions": "sinusoidal", "backbone.activation": "relu", "backbone.scale_input": True},
        {"backbone.positions": "none", "model.embedding": 16, "model.tie_embeddings": True},
        {"model.embedding": 16, "backbone.feedforward": 50, "backbone.heads": 4},
    ],
    ids=str,
)
def test_the_library_gives_the_same_logits(more: dict[str, Any], tmp_path: Path) -> None:
    run = trained(tmp_path, **more)
    api.export(run.path, tmp_path / "left", format="transformers")
    theirs = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "left").eval()
    for T in (1, 9, 24):
        tokens_BT = torch.randint(0, run.model.vocab_size, (2, T), generator=torch.Generator().manual_seed(T))
        with torch.inference_mode():
            torch.testing.assert_close(theirs(tokens_BT).logits, run.model(tokens_BT)[0], atol=1e-4, rtol=0)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "left")
    assert tokenizer("The cat sat", add_special_tokens=False)["input_ids"] == run.tokenizer.encode("The cat sat")


@pytest.mark.parametrize(
    ("arch", "more", "why"),
    [
        ("lstm", {}, "not a language model of the architecture transformer"),
        ("transformer", {"backbone.norm": "rms"}, "backbone.norm=rms"),
        ("transformer", {"backbone.norm_position": "after"}, "backbone.norm_position=after"),
        ("transformer", {"backbone.activation": "swiglu"}, "backbone.activation=swiglu"),
        ("transformer", {"backbone.qk_norm": True}, "backbone.qk_norm=true"),
        ("transformer", {"model.logit_cap": 30}, r"model\.logit_cap=30"),
    ],
)
def test_others_are_refused_by_name(arch: str, more: dict[str, Any], why: str, tmp_path: Path) -> None:
    run = trained(tmp_path, arch, steps=1, **more)
    with pytest.raises(UsageError, match=why):
        api.export(run.path, tmp_path / "left", format="transformers")
    assert not (tmp_path / "left").exists()
