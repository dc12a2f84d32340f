"""A metric of graded labels, and a measure of classifiers."""

from seqlab.measures.measurement import MeasureContext, Measurement
from seqlab.metrics.example_metric import metric
from seqlab.runs.run import Run


@metric("distance", digits=2, lower_is_better=True, negligible=0.01)
def distance(gold: str, predicted: str) -> float:
    """The mean distance between the true grade and the predicted one."""
    return abs(int(gold) - int(predicted))


def favorite(run: Run, context: MeasureContext) -> Measurement:
    """The label that is predicted most often."""
    labels = [str(prediction.as_dict()["label"]) for prediction in run.predict(["a text!", "another!!", "and more!!!"])]
    label = max(labels, key=labels.count)
    return Measurement({"label": label}, f"the favorite grade is {label}")
