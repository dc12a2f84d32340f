"""Numbers as they are read: 1,234 or 1.2M, and ticks for axes."""

import math

SCALES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def short(value: float) -> str:
    """Three digits: 1234567 to '1.23M', 0.00031 to '0.00031'."""
    for scale, letter in SCALES:
        if abs(value) >= scale * 0.9995:
            return f"{value / scale:.3g}{letter}"
    return f"{value:.3g}"


def whole(value: float | None) -> str:
    return decimals(value, 0)


def decimals(value: float | None, places: int) -> str:
    """A dash where there is no number."""
    if value is None or math.isnan(value):
        return "–"
    return f"{value:,.{places}f}".replace("-", "−").replace("inf", "∞")


def linear_ticks(low: float, high: float, about: int = 4) -> list[float]:
    """Round numbers within the range, some `about` of them."""
    if not high > low:
        return [low]
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(index * step, 12) for index in range(first, last + 1)]


def log_ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Powers of ten within the range, thinned to `most`; 1, 2, 5 between them where the range holds too few."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    inside = [10.0**power for power in powers if low * 0.999 <= 10.0**power <= high * 1.001]
    if len(inside) < 3:
        finer = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
        inside = [value for value in finer if low * 0.999 <= value <= high * 1.001]
    inside = inside if len(inside) > 1 else linear_ticks(low, high)
    return inside[:: -(-len(inside) // most)]
