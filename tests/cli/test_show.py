"""What is printed as JSON is JSON, whatever characters the data has."""

import io
import json

from hypothesis import example, given
from hypothesis import strategies as st

from seqlab.cli.show import StrictConsole


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
@example(text="it\x92s \x1b[31m\x7f\u202e\u2066")
def test_every_parser_reads_what_is_printed(text: str) -> None:
    stream = io.StringIO()
    StrictConsole(file=stream).print_json(data={text: [text, float("nan")]})
    printed = stream.getvalue()
    assert json.loads(printed) == {text: [text, None]}
    assert not any(control in printed for control in "\x1b\x7f\x92\u202e\u2066")
