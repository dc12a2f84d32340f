"""The masked language model: the logits at a token are those of what stood there before it was hidden."""

from seqlab.models.token_model import TokenModel


class MaskedModel(TokenModel):
    """Reads one symbol more than the vocabulary has: the mask, which stands for what is hidden."""

    symbols = 1

    @property
    def mask(self) -> int:
        return self.vocab_size
