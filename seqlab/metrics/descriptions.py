"""Every built-in metric, described once: label, unit, digits and meaning."""

from collections.abc import Iterable
from functools import partial

from seqlab.metrics.metric import Metric

_loss = partial(Metric, digits=4, lower_is_better=True)
_percentage = partial(Metric, highest=100.0, aggregate="percentage")
# where two rankers of a collection differ in a query, they differ by 0.14 to 0.4 on average
_share = partial(Metric, digits=4, highest=1.0, swing=0.2, negligible=0.005)
_count = partial(Metric, is_count=True)

NATS_PER_CHAR = _loss(
    "nats_per_char", "nats/char", "the mean loss per character of held-out text, in natural-log units", negligible=0.01
)
BITS_PER_CHAR = _loss(
    "bits_per_char", "bits/char", "the same loss in bits: the size to which the model could compress a character"
)
ACCURACY = _percentage(
    "accuracy",
    "accuracy, %",
    "the percentage of held-out predictions that are correct",
    unit="points of accuracy",
    negligible=0.2,
)
ENTITY_F1 = _percentage(
    "entity_f1",
    "entity F1, %",
    "the harmonic mean of the precision and recall of the predicted spans",
    unit="points of entity F1",
    negligible=0.5,
    aggregate="f1",
)
BLEU = _percentage(
    "bleu",
    "BLEU",
    "how many words, and groups of up to four words, the translation shares with its reference",
    negligible=0.3,
    aggregate="bleu",
)
CHRF = _percentage(
    "chrf",
    "chrF",
    "like BLEU, but over groups of characters: more tolerant of other word forms",
    negligible=0.3,
    aggregate="chrf",
)
EXACT = _percentage(
    "exact",
    "exact, %",
    "the percentage of held-out texts that equal their reference exactly",
    unit="points of exact",
    negligible=0.5,
)
NDCG_10 = _share(
    "ndcg_10",
    "nDCG@10",
    "how near the top the relevant documents are among the first ten: 1 if none could be higher",
)
MRR = _share("mrr", "MRR", "1 / the rank of the first relevant document, averaged over queries")
MAP = _share("map", "MAP", "the precision at each relevant document, averaged over queries")
RECALL_100 = _share("recall_100", "recall@100", "the share of the relevant documents among the first hundred")

DESCRIPTIONS = {
    metric.key: metric
    for metric in (
        NATS_PER_CHAR,
        _loss("nats_per_token", "nats/token", "the mean loss per token, in natural-log units"),
        Metric(
            "perplexity",
            "perplexity",
            "the number of equally likely tokens that would leave a reader as uncertain",
            lower_is_better=True,
        ),
        BITS_PER_CHAR,
        _loss(
            "bits_per_byte",
            "bits/byte",
            "the same loss in bits per byte of the text in UTF-8, whatever the encoding of the file",
        ),
        Metric(
            "spelling",
            "spelling, %",
            "the percentage of the bits that spell words outside the vocabulary, by a character model of its words",
            lower_is_better=True,
        ),
        ACCURACY,
        _percentage("macro_f1", "macro F1, %", "F1 averaged over labels: rare labels count as much as frequent ones"),
        ENTITY_F1,
        _percentage("precision", "precision, %", "the percentage of predicted spans that are correct"),
        _percentage("recall", "recall, %", "the percentage of true spans that the model finds"),
        _loss("nats_per_tag", "nats/tag", "the mean loss per tag, in natural-log units"),
        _loss("nats_per_example", "nats/example", "the mean loss per text, in natural-log units"),
        BLEU,
        CHRF,
        EXACT,
        NDCG_10,
        MRR,
        MAP,
        RECALL_100,
        _share("ndcg_10_seen", "nDCG@10, seen", "nDCG@10 of queries whose documents training had, too: memory helps"),
        _share("ndcg_10_all", "nDCG@10, all", "nDCG@10 of all queries, seen and unseen"),
        _count("seen", "seen queries", "how many queries were left out because training had their documents"),
        _count("queries", "queries", "how many queries were scored"),
        _count("documents", "documents", "how many documents each query ranked"),
        _count("tokens", "tokens", "how many tokens were scored"),
        _count("tags", "tags", "how many tags were scored"),
        _count("examples", "examples", "how many examples were scored"),
        _count("sentences", "sentences", "how many sentences were scored"),
        _count("truncated", "cut off", "how many translations reached their longest allowed length before their end"),
    )
}


def describe(key: str, known: Iterable[Metric] = ()) -> Metric:
    """The description of a metric: from `known`, among the built-in ones, or its bare key."""
    given = {metric.key: metric for metric in known}
    return given.get(key) or DESCRIPTIONS.get(key) or Metric(key, key, "a metric of the task", digits=4)
