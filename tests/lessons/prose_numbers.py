"""The numbers that a lesson's prose claims, and those that its code asserts."""

import ast
import re

from seqlab.lessons.catalog import Lesson

# what is no claim: code, years of papers, numbers of lists, exercises and lessons
NO_CLAIM = re.compile(
    r"```.*?```"
    r"|`[^`]*`"
    r"|\([^()]*?\b(?:1[89]|20)\d\d[a-z]?\)"
    r"|^\s*\d+\. "
    r"|\b(?:[Ee]xercises?|[Ll]essons?) \d+(?:(?:, | and | to )\d+)*",
    flags=re.MULTILINE | re.DOTALL,
)
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")


def claimed(lesson: Lesson) -> list[str]:
    prose = "\n".join(cell.source for cell in lesson.cells if cell.is_prose)
    return [match[0].rstrip(",") for match in NUMBER.finditer(NO_CLAIM.sub(" ", prose))]


def asserted(lesson: Lesson) -> set[float]:
    """The literals in assert statements."""
    statements = [
        node
        for cell in lesson.cells
        if not cell.is_prose
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.Assert)
    ]
    constants = [
        node for statement in statements for node in ast.walk(statement.test) if isinstance(node, ast.Constant)
    ]
    return {float(node.value) for node in constants if isinstance(node.value, int | float)}


def unproven(lesson: Lesson) -> list[str]:
    """The claimed numbers that occur in no assertion; 95% may be asserted as 0.95."""
    known = asserted(lesson)
    numbers = {text: float(text.replace(",", "")) for text in claimed(lesson)}
    return [text for text, number in numbers.items() if not {number, round(number / 100, 10)} & known]
