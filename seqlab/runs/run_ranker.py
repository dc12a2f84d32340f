"""A run that ranks documents: hard negatives are mined by it."""

import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from seqlab.baselines.vector_ranker import VectorRanker
from seqlab.data.documents.document import Document
from seqlab.errors import SeqlabWarning
from seqlab.runs.load import load_run
from seqlab.runs.run import Run


class RunRanker(VectorRanker):
    def __init__(self, run: Run, documents: Sequence[Document]):
        self.about, self._run = f"the run '{run.path}'", run
        self.vectors_ND = self.embed([document.with_title for document in documents])

    @classmethod
    def load(cls, path: str, documents: Sequence[Document]) -> "RunRanker":
        return cls(load_run(Path(path)), documents)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SeqlabWarning)  # what is cut or unknown in training was said before
            return self._run.embed(texts)
