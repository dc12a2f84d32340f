"""Numbers for readers: 1,234 or 1.2M."""

import math

NO_VALUE = "–"
SCALES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def short(value: float) -> str:
    """Three digits: 1234567 to '1.23M', 0.00031 to '0.00031'."""
    for scale, letter in SCALES:
        if abs(value) >= scale * 0.9995:
            return f"{value / scale:.3g}{letter}"
    return f"{value:.3g}"


def decimals(value: float | None, places: int) -> str:
    """A dash where there is no number."""
    if value is None or math.isnan(value):
        return NO_VALUE
    return f"{value:,.{places}f}".replace("-", "−").replace("inf", "∞")
