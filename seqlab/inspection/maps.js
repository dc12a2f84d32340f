// where tokens look: a grid of heads, one of them large, and lines in the text; only the row that is pointed at is drawn
const STRONGEST = 10; // tokens in the panel
const FAINTEST = 0.3; // of the strongest line: what is fainter is not drawn
const bytes = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
const isDark = matchMedia("(prefers-color-scheme: dark)");

// the color of every byte, from the paper over --map-middle to --map-strong
function ramp() {
  const style = getComputedStyle(document.documentElement);
  const [low, middle, high] = ["--paper", "--map-middle", "--map-strong"].map((name) => {
    const hex = style.getPropertyValue(name).trim().slice(1);
    const long = hex.length === 3 ? [...hex].map((digit) => digit + digit).join("") : hex;
    return [0, 2, 4].map((start) => parseInt(long.slice(start, start + 2), 16));
  });
  return Array.from({ length: 256 }, (_, byte) => {
    const [from, to, share] = byte < 128 ? [low, middle, byte / 127] : [middle, high, (byte - 128) / 127];
    return from.map((part, at) => Math.round(part + share * (to[at] - part)));
  });
}

// black or white: the one with more contrast on this color
function legible(color) {
  const [red, green, blue] = color.map((part) => (part / 255) ** 2.2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 ? "#000" : "#fff";
}

function image(map, width, height, colors) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  const pixels = new ImageData(width, height);
  map.forEach((byte, at) => pixels.data.set([...colors[byte], 255], 4 * at));
  canvas.getContext("2d").putImageData(pixels, 0, 0);
  return canvas;
}

// a canvas as sharp as the screen; drawing is in the pixels of the page
function sharp(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  [canvas.style.width, canvas.style.height] = [`${width}px`, `${height}px`];
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  return context;
}

class Maps {
  constructor(section, data) {
    const find = (selector) => section.querySelector(selector);
    Object.assign(this, { section, data, panel: find(".shown"), lines: find(".lines"), texts: find(".texts") });
    [this.map, this.mark, this.caption] = [find(".map"), find(".mark"), find(".large figcaption")];
    [this.rows, this.columns] = [find(".text[data-sheet]"), find(".source") ?? find(".text[data-sheet]")].map((text) => [
      ...text.querySelectorAll(".t"),
    ]);
    this.buttons = [...section.querySelectorAll(".head")];
    this.shape = [Math.ceil(data.columns / data.factor), Math.ceil(data.rows / data.factor)];
    this.heads = data.maps.map((each) => ({
      name: each.name,
      map: bytes(each.map),
      columns: new Uint16Array(bytes(each.columns).buffer),
      weights: bytes(each.weights),
    }));
    [this.chosen, this.row, this.colored] = [0, -1, []];
    this.listen();
    this.buttons[0].tabIndex = 0;
    this.panel.ariaLive = "polite";
    this.draw();
  }

  listen() {
    const go = follow(this.section.querySelector(".text[data-sheet]"), (row) => this.show(row));
    this.buttons.forEach((button, at) => {
      button.addEventListener("click", () => this.choose(at));
      button.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: this.across(at), ArrowUp: -this.across(at - 1) }[event.key];
        if (!step) return;
        event.preventDefault();
        this.reach(this.buttons[at + step] ?? button);
      });
    });
    this.mark.addEventListener("mousemove", (event) => {
      const row = Math.floor((event.offsetY - this.top) / this.cell) * this.data.factor;
      if (row >= 0) go(Math.min(row, this.data.rows - 1));
    });
    for (const text of this.texts.querySelectorAll(".text")) text.addEventListener("scroll", () => this.drawLines());
    new ResizeObserver(() => this.resize()).observe(this.section);
    isDark.addEventListener("change", () => this.draw());
  }

  // how many buttons stand in the row of this one
  across(at) {
    return this.buttons[Math.max(0, at)].parentElement.querySelectorAll(".head").length;
  }

  // one button can be reached with Tab, the others with the arrow keys
  reach(button) {
    for (const each of this.buttons) each.tabIndex = each === button ? 0 : -1;
    button.focus();
  }

  choose(at) {
    this.chosen = at;
    this.reach(this.buttons[at]);
    this.drawLarge();
    if (this.row >= 0) this.show(this.row);
  }

  draw() {
    this.colors = ramp();
    this.buttons.forEach((button, at) => {
      const small = image(this.heads[at].map, ...this.shape, this.colors);
      button.querySelector("canvas").replaceWith(small);
    });
    this.resize();
  }

  resize() {
    this.drawLarge();
    this.drawLines();
  }

  // the chosen map, with its tokens beside it where there is room for them
  drawLarge() {
    const { name, map } = this.heads[this.chosen];
    this.buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(at === this.chosen)));
    const [wide, high] = this.shape;
    const room = Math.min(this.caption.parentElement.clientWidth, 560);
    const labeled = this.data.factor === 1 && (room - 70) / Math.max(wide, high) >= 8;
    [this.left, this.top] = labeled ? [70, 70] : [0, 0];
    this.cell = Math.min((room - this.left) / wide, 480 / high, 28);
    const context = sharp(this.map, this.left + this.cell * wide, this.top + this.cell * high);
    context.imageSmoothingEnabled = false;
    const small = image(map, wide, high, this.colors);
    context.drawImage(small, this.left, this.top, this.cell * wide, this.cell * high);
    if (labeled) this.label(context);
    this.map.setAttribute("aria-label", `${name}: tokens in rows look at those in columns`);
    const points = this.data.factor > 1 ? ` Each point is the largest of ${this.data.factor} × ${this.data.factor}.` : "";
    const kept = this.data.kept < this.data.columns ? ` Lines and colors in the text show the ${this.data.kept} largest weights of a token.` : "";
    this.caption.textContent = `${name}: the tokens in rows look at those in columns.${points}${kept}`;
    this.drawMark();
  }

  label(context) {
    const style = getComputedStyle(this.section);
    context.fillStyle = style.color;
    context.font = `${Math.min(12, this.cell)}px ui-monospace, monospace`;
    [context.textBaseline, context.textAlign] = ["middle", "right"];
    const text = (token) => token.firstChild.textContent.slice(0, 9);
    this.rows.forEach((token, at) => context.fillText(text(token), this.left - 5, this.top + (at + 0.5) * this.cell));
    context.textAlign = "left";
    this.columns.forEach((token, at) => {
      context.save();
      context.translate(this.left + (at + 0.5) * this.cell, this.top - 5);
      context.rotate(-Math.PI / 2);
      context.fillText(text(token), 0, 0);
      context.restore();
    });
  }

  drawMark() {
    const width = this.left + this.cell * this.shape[0];
    const context = sharp(this.mark, width, this.top + this.cell * this.shape[1]);
    if (this.row < 0) return;
    context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--hot");
    context.lineWidth = 2;
    const y = this.top + Math.floor(this.row / this.data.factor) * this.cell;
    context.strokeRect(1, y, width - 2, Math.max(2, this.cell));
  }

  // where one token looks: the strongest first
  looks(row) {
    const { columns, weights } = this.heads[this.chosen];
    const first = row * this.data.kept;
    const found = Array.from({ length: this.data.kept }, (_, at) => [columns[first + at], weights[first + at]]);
    return found.filter(([, byte]) => byte > 0);
  }

  show(row) {
    this.row = row;
    this.texts.classList.add("looking");
    for (const token of this.colored) token.style.backgroundColor = token.style.color = "";
    const found = this.looks(row);
    this.colored = found.map(([column, byte]) => {
      const token = this.columns[column];
      token.style.backgroundColor = `rgb(${this.colors[byte]})`;
      token.style.color = legible(this.colors[byte]);
      return token;
    });
    const lines = found.slice(0, STRONGEST).map(([column, byte]) => {
      const share = (byte / 255) ** 2;
      const amount = share < 0.01 ? "under 1%" : `${Math.round(100 * share)}%`;
      return [`${this.columns[column].firstChild.textContent} (${column + 1})`, share, amount];
    });
    const token = this.rows[row].firstChild.textContent;
    fill(this.panel, token, `${this.heads[this.chosen].name}: token ${row + 1} looks at`, lines);
    this.drawMark();
    this.drawLines();
  }

  drawLines() {
    const frame = this.texts.getBoundingClientRect();
    const context = sharp(this.lines, frame.width, frame.height);
    if (this.row < 0) return;
    const middle = (token) => {
      const box = token.getBoundingClientRect();
      return [(box.left + box.right) / 2 - frame.left, (box.top + box.bottom) / 2 - frame.top, box.height / 2];
    };
    const [x, y, half] = middle(this.rows[this.row]);
    const found = this.looks(this.row);
    const most = Math.max(1, ...found.map(([, byte]) => byte));
    context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--sure");
    context.lineCap = "round";
    for (const [column, byte] of found) {
      const [toX, toY] = middle(this.columns[column]);
      if (byte < FAINTEST * most || (x === toX && y === toY)) continue;
      const sameLine = Math.abs(y - toY) < half;
      const lift = sameLine ? -Math.min(half * 2.6, 6 + Math.abs(x - toX) / 4) : 0;
      context.globalAlpha = 0.15 + (0.75 * byte) / 255;
      context.lineWidth = 0.8 + (2.2 * byte) / 255;
      context.beginPath();
      context.moveTo(x, y - (sameLine ? half * 0.7 : 0));
      context.quadraticCurveTo((x + toX) / 2, (y + toY) / 2 + lift, toX, toY - (sameLine ? half * 0.7 : 0));
      context.stroke();
    }
  }
}

for (const [name, data] of Object.entries(maps)) new Maps(document.getElementById(name), data);
