"""What stands in a page that is open in a browser."""

from browser import Browser

HEADS = 8  # of a Transformer of two layers
# how many points of a canvas are drawn, and the color of one in its left half
POINTS = """const c = arguments[0].cloneNode().getContext("2d", {willReadFrequently: true}).canvas;
c.getContext("2d").drawImage(arguments[0], 0, 0);
const points = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;"""
DRAWN = f"{POINTS} return points.filter((value, at) => at % 4 === 3 && value > 0).length"
LEFT = f"{POINTS} return [...points.slice(4 * (c.width * (c.height >> 1) + (c.width >> 2)))].slice(0, 4)"
# the contrast of letters on every shade, as WCAG defines it; color-mix is reported as color(srgb r g b)
CONTRASTS = """
const light = (color) => {
  const whole = color.startsWith("rgb") ? 255 : 1;
  const [red, green, blue] = color.match(/[\\d.]+/g).slice(0, 3).map((text) => {
    const part = Number(text) / whole;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};
const ratio = (first, second) => (Math.max(first, second) + 0.05) / (Math.min(first, second) + 0.05);
const token = document.querySelector(".text .t");
return ["hot", "cold"].flatMap((name) => [1, 2, 3, 4, 5, 6, 7, 8].map((shade) => {
  token.className = `t ${name}${shade}`;
  const style = getComputedStyle(token);
  return ratio(light(style.color), light(style.backgroundColor));
}));
"""


def visible(text: str) -> str:
    return text.replace(" ", "·").replace("\n", "↵")


def panel(browser: Browser, view: str) -> tuple[str, list[str]]:
    """The token that is shown, and the first words of its lines."""
    box = f"#{view} .shown"
    return browser.find(f"{box} h3").text, [line.text for line in browser.find_all(f"{box} .line span:first-of-type")]
