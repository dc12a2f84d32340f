"""Wrong answers made from right ones: every result is changed, whatever it is."""

from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn


def spoiled(value: Any) -> Any:
    """The same kind of value with other content."""
    match value:
        case bool():
            return not value
        case str():
            return value[::-1] + "?"
        case Tensor() if value.dtype == torch.bool:
            return ~value
        case int() | float() | Tensor() | np.ndarray():
            return 3 * value + 7
        case dict():
            return {key: spoiled(content) for key, content in value.items()}
        case list() | tuple() | set() | frozenset():
            return type(value)(map(spoiled, value))
        case type() if issubclass(value, nn.Module):
            return type(value.__name__, (value,), {"forward": spoiled(value.forward)})
        case _ if callable(value):
            return _spoiled_function(value)
    raise TypeError(f"say here how a {type(value).__name__} is spoiled")


def _spoiled_function(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def wrong(*arguments: Any, **options: Any) -> Any:
        return spoiled(function(*arguments, **options))

    return wrong


def spoiled_answer(answer: ModuleType) -> ModuleType:
    """The module with every name that it defines itself spoiled."""
    wrong = ModuleType("wrong")
    wrong.__file__ = "wrong.py"
    for name, value in vars(answer).items():
        own = getattr(value, "__module__", answer.__name__) == answer.__name__ and not isinstance(value, ModuleType)
        setattr(wrong, name, spoiled(value) if own and not name.startswith("_") else value)
    wrong.__name__ = "wrong"
    return wrong
