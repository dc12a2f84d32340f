"""Checks of the exercises on exposure bias."""

from random import Random
from types import ModuleType

from seqlab.tasks.example_settings import TranslateSettings
from seqlab.tasks.translate import teacher_forcing_ratio


def check_true_token_probability(answer: ModuleType) -> None:
    """The linear schedule"""
    for steps, last in ((100, 0.5), (7, 0.0), (1000, 0.9)):
        settings = TranslateSettings(forcing="scheduled", decay="linear", decay_steps=steps, teacher_ratio=last)
        for step in (0, 1, steps // 2, steps, 2 * steps):
            got, expected = answer.true_token_probability(step, steps, last), teacher_forcing_ratio(settings, step)
            assert abs(got - expected) < 1e-9, (
                f"true_token_probability({step}, {steps}, {last}) is {got!r}; expected {expected}."
            )


def check_decode(answer: ModuleType) -> None:
    """Reading true tokens or its own"""

    def predict(previous: int, state: list[int] | None) -> tuple[int, list[int]]:
        read = [*(state or []), previous]
        return (3 * previous + len(read)) % 10, read

    draw = Random(0)
    for _ in range(20):
        truth = [draw.randrange(10) for _ in range(6)]
        use_truth = [draw.random() < 0.5 for _ in truth]
        expected: list[int] = []
        for t in range(len(truth)):
            previous = 7 if t == 0 else truth[t - 1] if use_truth[t] else expected[-1]
            expected.append((3 * previous + t + 1) % 10)
        got = list(answer.decode(predict, 7, truth, use_truth))
        assert got == expected, (
            f"decode with truth {truth} and use_truth {use_truth} predicts {got!r}; expected {expected}. Is the state "
            "passed on, and is `begin` read first?"
        )


def check_after_mistake(answer: ModuleType) -> None:
    """What happens after a mistake"""
    draw = Random(1)
    truth = [[draw.randrange(3) for _ in range(8)] for _ in range(50)]
    predicted = [[token if draw.random() < 0.7 else draw.randrange(3) for token in row] for row in truth]
    right = []
    for guess, row in zip(predicted, truth, strict=True):
        wrong = [a != b for a, b in zip(guess, row, strict=True)]
        if any(wrong):
            right += [not value for value in wrong[wrong.index(True) + 1 :]]
    got, expected = answer.after_mistake(predicted, truth), sum(right) / len(right)
    assert got is not None and abs(got - expected) < 1e-9, (
        f"after_mistake is {got!r}; expected {expected:.4f}: the first mistake does not count, all later tokens do."
    )
    assert answer.after_mistake([[1, 2]], [[1, 2]]) is None, "without a mistake there is nothing after it: return None."
    assert answer.after_mistake([[1, 0]], [[1, 2]]) is None, "nothing follows a mistake at the end: return None."
