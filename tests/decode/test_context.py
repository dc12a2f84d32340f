from hypothesis import given
from hypothesis import strategies as st

from seqlab.decode.context import context_length


@given(limit=st.integers(1, 12), length=st.integers(1, 80))
def test_what_is_held_follows_the_rule_step_by_step(limit: int, length: int):
    context = 1
    for _ in range(length - 1):
        context = max(1, limit // 2) if context == limit else context + 1
    assert context_length(length, limit) == context


def test_without_a_limit_everything_is_held():
    assert context_length(10**6, None) == 10**6
