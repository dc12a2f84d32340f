import pytest

from seqlab.backbones.recurrent_settings import GruSettings, LstmSettings
from seqlab.config import ModelSettings, RunSettings, resolve
from seqlab.errors import UsageError
from seqlab.models import parameter_count as sizes
from seqlab.models.parameter_count import in_units, machine_memory, refuse_absurd, token_parameters


def run_of(backbone: LstmSettings, embedding: int = 128) -> RunSettings:
    tables = {"corpus": {"source": ["none"]}, "model": {"embedding": embedding}, "backbone": backbone.model_dump()}
    return resolve(tables)


def test_counted_by_hand():
    """Embedding 3·2; reset, update and candidate from 2 and 4 inputs with two biases each; 4·3 and 3 biases out."""
    count = token_parameters(ModelSettings(embedding=2), GruSettings(hidden=4), 3)
    assert (count.embedding, count.core, count.output) == (6, 3 * 4 * (2 + 4 + 2), 15)
    assert count.total == 117


def test_tied_outputs_counted_by_hand():
    tie_embeddings = ModelSettings(embedding=2, tie_embeddings=True)
    assert token_parameters(tie_embeddings, GruSettings(hidden=4), 3).output == 4 * 2 + 3
    assert token_parameters(tie_embeddings, GruSettings(hidden=2), 3).output == 2 * 2 + 3


def test_what_fits_is_counted():
    assert refuse_absurd(run_of(LstmSettings()), 65) == token_parameters(ModelSettings(), LstmSettings(), 65)


@pytest.mark.parametrize(
    "backbone, embedding, vocab_size, named",
    [
        (LstmSettings(hidden=65_536, layers=256), 128, 65, "backbone.hidden=65536, backbone.layers=256"),
        (LstmSettings(), 65_536, 2**24, "model.embedding=65536"),
    ],
)
def test_what_no_machine_holds_is_refused(backbone: LstmSettings, embedding: int, vocab_size: int, named: str):
    with pytest.raises(UsageError, match=named) as refused:
        refuse_absurd(run_of(backbone, embedding), vocab_size)
    assert "TiB" in str(refused.value)


def test_the_bound_is_this_machines_memory(monkeypatch: pytest.MonkeyPatch):
    needed = 16 * token_parameters(ModelSettings(), LstmSettings(), 65).total
    monkeypatch.setattr(sizes, "machine_memory", lambda: needed)
    refuse_absurd(run_of(LstmSettings()), 65)
    monkeypatch.setattr(sizes, "machine_memory", lambda: needed - 1)
    with pytest.raises(UsageError, match="Make one of them smaller"):
        refuse_absurd(run_of(LstmSettings()), 65)


def test_a_vocabulary_beyond_reason_is_refused():
    with pytest.raises(UsageError, match="16,777,217 symbols"):
        refuse_absurd(run_of(LstmSettings(hidden=1), 1), 2**24 + 1)


def test_machine_memory_is_plausible():
    assert 2**28 < machine_memory() < 2**50


@pytest.mark.parametrize(
    "size, words",
    [(0, "0 bytes"), (1023, "1,023 bytes"), (1024, "1.0 KiB"), (12_345_678, "11.8 MiB"), (2**62, "4,194,304.0 TiB")],
)
def test_units(size: int, words: str):
    assert in_units(size) == words
