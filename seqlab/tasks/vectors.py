"""Texts as vectors, and documents ranked by the cosine of theirs.

Vectors have length 1, so that their dot product is the cosine.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch.nn.functional import normalize

from seqlab.baselines.ranker import SCORES
from seqlab.data.documents.encoded import PairSplit
from seqlab.data.examples.encoded import MAX_SCORED_ROWS, SCORED_AT_ONCE, cut_by_tokens
from seqlab.distributed.group import sum_array
from seqlab.distributed.world import joined
from seqlab.metrics.ranking import rank_documents
from seqlab.models.text_encoder import TextEncoder
from seqlab.tasks.examples import mask_or_none, pad_rows


@torch.inference_mode()
def embed_rows(model: TextEncoder, rows: Sequence[np.ndarray]) -> np.ndarray:
    """The vectors_ND of texts given as ids, of length 1, in float32; texts of similar length are run together."""
    lengths_N = np.array([len(ids) for ids in rows])
    vectors_ND = np.zeros((len(rows), model.dimensions), np.float32)
    device = next(model.parameters()).device
    batches = cut_by_tokens(np.argsort(lengths_N, kind="stable"), lengths_N, SCORED_AT_ONCE, MAX_SCORED_ROWS)
    for batch in joined().part(batches):
        tokens_BT, mask_BT = pad_rows([rows[row] for row in batch])
        kept_BT = mask_or_none(mask_BT)
        vectors_BD = model(tokens_BT.to(device), None if kept_BT is None else kept_BT.to(device))
        vectors_ND[batch] = normalize(vectors_BD, dim=1).cpu().numpy()
    return sum_array(vectors_ND)


def rank_by_cosine(queries_QD: np.ndarray, documents_ND: np.ndarray, names: Sequence[str]) -> list[list[str]]:
    """The names of the best documents for each query, best first; all vectors have length 1."""
    at_once = max(1, SCORES // max(1, len(names)))
    rankings: list[list[str]] = []
    for first in range(0, len(queries_QD), at_once):
        rankings += rank_documents(queries_QD[first : first + at_once] @ documents_ND.T, names)
    return rankings


def ranked_within(split: PairSplit, limit: int) -> list[int]:
    """Documents of about `limit` tokens, the queries included: all that are relevant, and others in a fixed order."""
    keys = {key for relevant in split.relevant for key in relevant}
    needed = [row for row, key in enumerate(split.table.keys) if key in keys]
    others = np.random.default_rng(0).permutation(np.setdiff1d(np.arange(len(split.table)), needed)).tolist()
    left = limit - int(split.input_lengths_N.sum())
    chosen: list[int] = []
    for row in (*needed, *others):
        left -= min(len(split.table.texts[row]), split.longest)
        if left < 0 and len(chosen) >= len(needed):
            break
        chosen.append(row)
    return sorted(chosen)
