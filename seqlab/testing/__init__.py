"""Public contract suites: what an architecture, a task or a tokenizer promises, as functions that check it.

`check_architecture(MyClass)` raises AssertionError with a sentence that names the broken promise. The tests of this
project call the same functions.
"""

from seqlab.testing.architecture import check_architecture as check_architecture
from seqlab.testing.task import check_task as check_task
from seqlab.testing.tokenizer import check_tokenizer as check_tokenizer
