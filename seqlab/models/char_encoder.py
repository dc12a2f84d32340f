"""Word vectors from characters: a small convolution or a small bidirectional LSTM."""

import torch
from torch import Tensor, nn

from seqlab.backbones.recurrent import Lstm
from seqlab.backbones.recurrent_settings import LstmSettings
from seqlab.models.parameter_count import CHAR_FILTER


class CharEncoder(nn.Module):
    """From the characters_NC of words, padded on the right, to vectors_NW. `architecture`: "convolution" or "lstm"."""

    def __init__(self, architecture: str, characters: int, embedding: int, width: int):
        super().__init__()
        self.embedding = nn.Embedding(characters, embedding)
        self.convolution = self.lstm = None
        if architecture == "lstm":
            self.lstm = Lstm(LstmSettings(hidden=width // 2, bidirectional=True), embedding)
        else:
            self.convolution = nn.Conv1d(embedding, width, CHAR_FILTER, padding=CHAR_FILTER // 2)

    def forward(self, characters_NC: Tensor, mask_NC: Tensor) -> Tensor:
        x_NCD = self.embedding(characters_NC) * mask_NC[:, :, None]  # filters see zeros beyond the end of a word
        if self.lstm is not None:
            y_NCW, _ = self.lstm(x_NCD, None, mask_NC)
            return self.lstm.summarize(y_NCW, mask_NC)
        assert self.convolution is not None
        y_NCW = self.convolution(x_NCD.transpose(1, 2)).transpose(1, 2)
        return torch.relu(y_NCW.masked_fill(~mask_NC[:, :, None], -torch.inf).amax(1))
