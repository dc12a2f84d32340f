"""Numbers as colors: one scale for sizes and one for differences, the same in a terminal, on a page and in a picture.

Orange and blue differ in lightness as well, so the scales can be read without color vision.
"""

LEVELS = 8  # shades besides none
HOT, COLD = (216, 98, 12), (27, 74, 168)
WHITE = (255, 255, 255)


def level(share: float) -> int:
    """The shade of a number from 0 to 1; 0 for what is not a number."""
    return round(LEVELS * min(1.0, max(0.0, share))) if share == share else 0


def signed_level(share: float) -> int:
    """The shade of a difference from -1 (cold) to 1 (hot)."""
    return level(share) if share >= 0 else -level(-share)


def color(shade: int) -> str:
    """The shade on white."""
    strength = abs(shade) / LEVELS
    mixed = (round(white + strength * (full - white)) for white, full in zip(WHITE, _end(shade), strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def terminal_style(shade: int) -> str:
    """For rich: dark letters on the shade; none for the lightest."""
    if not shade:
        return ""
    return f"{'white' if shade < -LEVELS // 2 else 'black'} on {color(shade)}"


def page_class(shade: int) -> str:
    return f"{'cold' if shade < 0 else 'hot'}{abs(shade)}" if shade else ""


def page_rules() -> str:
    """The style of the classes; on a dark page the shades are mixed with its own background."""
    return "".join(
        f".{name}{shade}{{background:color-mix(in srgb,var(--{name}) {100 * shade // LEVELS}%,var(--paper))}}"
        for name in ("hot", "cold")
        for shade in range(1, LEVELS + 1)
    )


def _end(shade: int) -> tuple[int, int, int]:
    return COLD if shade < 0 else HOT
