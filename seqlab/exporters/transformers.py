"""A Transformer for the `transformers` library: as GPT-2, or as GPT-NeoX if it has rotary positions.

Both have no bias in their last projection, W y + c. But y = g ⊙ n + b comes from a norm, where the n of a position sum
to zero; so with v = 1 / g, v · y is the same number s = Σ b / g for every y, and (W + c vᵀ / s) y = W y + c.
"""

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from seqlab.attention.positions import Sinusoidal
from seqlab.backbones.transformer import Transformer
from seqlab.decode.engines.transformer import input_embeddings
from seqlab.errors import UsageError
from seqlab.exporters.counts import refuse_mixture
from seqlab.exporters.files import write_files
from seqlab.exporters.tokenizer import tokenizer_json
from seqlab.models.language_model import LanguageModel
from seqlab.runs import tensors
from seqlab.runs.run import Run
from seqlab.storage import to_json

MIN_GAIN = 1e-3  # dividing by a smaller gain would lose precision
ACTIVATIONS = ("gelu", "relu")


def write_transformers(run: Run, out: Path) -> list[Path]:
    """Write config.json, model.safetensors and tokenizer.json; returns their paths."""
    model = run.model
    check_supported(run)
    config, weights = as_gpt_neox(model) if model.backbone.settings.positions == "rotary" else as_gpt2(model)
    tokenizer = run.tokenizer
    config |= {"bos_token_id": tokenizer.begin, "eos_token_id": tokenizer.end, "tie_word_embeddings": False}
    contents = {
        "config.json": to_json(config),
        "model.safetensors": tensors.to_bytes(weights),
        "tokenizer.json": tokenizer_json(tokenizer),
        "tokenizer_config.json": json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}).encode(),
    }
    return write_files(run, out, contents)


def check_supported(run: Run) -> None:
    """UsageError with the first reason why no architecture of the library computes the same."""
    model = run.model
    if not (isinstance(model, LanguageModel) and isinstance(model.backbone, Transformer)):
        raise UsageError(
            f"'{run.directory.path}' is not a language model of the architecture transformer: use --format onnx."
        )
    refuse_mixture(run)
    settings, cap = model.backbone.settings, model.settings.logit_cap
    reasons = {
        f"backbone.norm={settings.norm}": settings.norm != "layer",
        f"backbone.norm_position={settings.norm_position}": settings.norm_position != "before",
        f"backbone.activation={settings.activation}": settings.activation not in ACTIVATIONS,
        "backbone.qk_norm=true": settings.qk_norm,
        f"model.logit_cap={cap}": cap is not None,
    }
    for setting, unsupported in reasons.items():
        if unsupported:
            raise UsageError(f"no transformers architecture has {setting}: use --format onnx.")


def as_gpt2(model: Any) -> tuple[dict[str, Any], dict[str, Tensor]]:
    settings, stack = model.backbone.settings, model.backbone.stack
    D = settings.hidden
    config = {
        "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": model.vocab_size,
        "n_positions": settings.context, "n_embd": D, "n_layer": settings.layers, "n_head": settings.heads,
        "n_inner": settings.inner, "activation_function": settings.activation,
        "layer_norm_epsilon": stack.last.eps,
    }  # fmt: skip
    weights = {
        "transformer.wte.weight": input_embeddings(model),
        "transformer.wpe.weight": _positions(stack.positions, settings),
    }
    for layer, block in enumerate(stack.blocks):
        prefix = f"transformer.h.{layer}"
        weights |= _norm(f"{prefix}.ln_1", block.norms[0]) | _norm(f"{prefix}.ln_2", block.norms[1])
        for name, linear in {
            "attn.c_attn": block.attention.into,
            "attn.c_proj": block.attention.out,
            "mlp.c_fc": block.feedforward.up,
            "mlp.c_proj": block.feedforward.down,
        }.items():
            weights |= {f"{prefix}.{name}.weight": linear.weight.T, f"{prefix}.{name}.bias": linear.bias}
    last, head = fold_output_bias(model)
    return config, {**weights, **_norm("transformer.ln_f", stack.last, last), "lm_head.weight": head}


def as_gpt_neox(model: Any) -> tuple[dict[str, Any], dict[str, Tensor]]:
    settings, stack = model.backbone.settings, model.backbone.stack
    config = {
        "model_type": "gpt_neox", "architectures": ["GPTNeoXForCausalLM"], "vocab_size": model.vocab_size,
        "max_position_embeddings": settings.context, "hidden_size": settings.hidden,
        "num_hidden_layers": settings.layers, "num_attention_heads": settings.heads,
        "intermediate_size": settings.inner, "hidden_act": settings.activation,
        "layer_norm_eps": stack.last.eps, "use_parallel_residual": False, "attention_bias": True,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 1.0},
        "rotary_pct": 1.0, "rotary_emb_base": 10000,
    }  # fmt: skip
    weights = {"gpt_neox.embed_in.weight": input_embeddings(model)[: model.vocab_size]}
    for layer, block in enumerate(stack.blocks):
        prefix = f"gpt_neox.layers.{layer}"
        weights |= _norm(f"{prefix}.input_layernorm", block.norms[0])
        weights |= _norm(f"{prefix}.post_attention_layernorm", block.norms[1])
        into = block.attention.into
        weights[f"{prefix}.attention.query_key_value.weight"] = _by_head(into.weight, settings.heads)
        weights[f"{prefix}.attention.query_key_value.bias"] = _by_head(into.bias, settings.heads)
        for name, linear in {
            "attention.dense": block.attention.out,
            "mlp.dense_h_to_4h": block.feedforward.up,
            "mlp.dense_4h_to_h": block.feedforward.down,
        }.items():
            weights |= {f"{prefix}.{name}.weight": linear.weight, f"{prefix}.{name}.bias": linear.bias}
    last, head = fold_output_bias(model)
    return config, {**weights, **_norm("gpt_neox.final_layer_norm", stack.last, last), "embed_out.weight": head}


@torch.no_grad()
def fold_output_bias(model: Any) -> tuple[Tensor, Tensor]:
    """A bias of the last norm and an output projection without bias that together give the same logits."""
    norm, V = model.backbone.stack.last, model.vocab_size
    gain_D, bias_D = norm.weight.double(), norm.bias.double()
    if bool((gain_D.abs() < MIN_GAIN).any()):
        raise UsageError(
            "a gain of the last norm is almost zero, so the output bias cannot be removed: use --format onnx."
        )
    weight = model.output.weight[:V] if model.narrow is None else model.output.weight[:V] @ model.narrow.weight
    weight_VD, bias_V = weight.double(), model.output.bias[:V].double()
    # adding the gain to the norm's bias keeps Σ b / g away from zero; the output bias subtracts it again
    bias_V = bias_V - weight_VD @ gain_D
    bias_D = bias_D + gain_D
    total = (bias_D / gain_D).sum()
    head_VD = weight_VD + bias_V[:, None] / gain_D / total
    return bias_D.float(), head_VD.float()


def _norm(name: str, norm: Any, bias: Tensor | None = None) -> dict[str, Tensor]:
    return {f"{name}.weight": norm.weight, f"{name}.bias": norm.bias if bias is None else bias}


def _positions(positions: Any, settings: Any) -> Tensor:
    """The position table, zeros if the model has none."""
    nothing_PD = torch.zeros(settings.context, settings.hidden)
    if settings.positions == "learned":
        return positions.table
    if isinstance(positions, Sinusoidal):
        return positions.add(nothing_PD[None], torch.arange(settings.context)[None])[0]
    return nothing_PD


def _by_head(into: Tensor, heads: int) -> Tensor:
    """From [all queries, all keys, all values] to [query, key, value] per head.

    GPT-NeoX rotates features half a head apart, we rotate neighbors: queries and keys are reordered alike."""
    q, k, v = (matrix.unflatten(0, (heads, -1)) for matrix in into.detach().chunk(3))
    q, k = (torch.cat([matrix[:, 0::2], matrix[:, 1::2]], dim=1) for matrix in (q, k))
    return torch.cat([q, k, v], dim=1).flatten(0, 1)
