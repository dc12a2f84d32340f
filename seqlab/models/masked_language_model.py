"""The masked language model: the logits at a masked token predict the original token."""

from seqlab.models.token_model import TokenModel


class MaskedLanguageModel(TokenModel):
    """Reads one id beyond the vocabulary: the mask."""

    symbols = 1

    @property
    def mask(self) -> int:
        return self.vocab_size
