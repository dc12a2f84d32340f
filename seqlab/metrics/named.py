"""Every metric that models are judged by, under the name that results carry."""

from math import inf

from seqlab.metrics.bleu import Bleu
from seqlab.metrics.labels import accuracy
from seqlab.metrics.metric import Metric, ratio
from seqlab.metrics.spans import entity_f1

LIKELIHOOD = Metric("nats/char", lower_is_better=True, negligible=0.01, value=ratio, highest=inf)
ACCURACY = Metric("accuracy, %", lower_is_better=False, negligible=0.2, value=accuracy)
ENTITIES = Metric("entity F1, %", lower_is_better=False, negligible=0.5, value=entity_f1)
BLEU = Metric("BLEU", lower_is_better=False, negligible=0.3, value=Bleu().value)
EXACT = Metric("exact, %", lower_is_better=False, negligible=0.5, value=accuracy)

METRICS = {metric.name: metric for metric in (LIKELIHOOD, ACCURACY, ENTITIES, BLEU, EXACT)}
