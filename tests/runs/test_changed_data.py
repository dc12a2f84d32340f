"""The files of a run that have changed, by what its configuration says of them."""

from seqlab.config import CorpusSettings
from seqlab.runs.changed_data import changed_data


def test_all_files_are_named_where_a_run_of_an_older_version_recorded_no_splits() -> None:
    corpus = CorpusSettings(source=("tr.csv",), test=("te.csv",))
    now = {"characters": 5, "splits": {"train": {"characters": 5, "fingerprint": "a"}}}
    changed = changed_data(corpus, {"characters": 7, "fingerprint": "b"}, now)
    assert changed == (("tr.csv", "te.csv"), 5, 7, True)
