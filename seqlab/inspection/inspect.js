"use strict";
// what a token shows when it is pointed at, clicked, or reached with the arrow keys
const { strings, details, maps } = JSON.parse(document.getElementById("details").textContent);

function element(name, text, kind = "") {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = kind;
  return made;
}

// lines are [label, share from 0 to 1, amount]
function fill(panel, token, heading, lines) {
  panel.replaceChildren(element("h3", token), element("p", heading));
  for (const [label, share, amount] of lines) {
    const row = element("div", "", "line");
    const bar = element("u", "");
    bar.style.width = `${100 * Math.min(1, Math.max(0, share))}%`;
    row.append(bar, element("span", label), element("span", amount));
    panel.append(row);
  }
}

// the index of the token that is nearest in the line above (-1) or below (1)
function inNextLine(tokens, at, direction) {
  const here = tokens[at].getBoundingClientRect();
  const middle = (here.left + here.right) / 2;
  let [best, distance, line] = [at, Infinity, null];
  for (let index = at + direction; index in tokens; index += direction) {
    const box = tokens[index].getBoundingClientRect();
    if (direction * (box.top - here.top) < 2) continue;
    if (line !== null && Math.abs(box.top - line) > 2) break;
    line = box.top;
    const away = Math.abs((box.left + box.right) / 2 - middle);
    if (away < distance) [best, distance] = [index, away];
  }
  return best;
}

// calls `show` with the token that is pointed at; a click or Enter holds it until the next one, or Escape
function follow(text, show) {
  const tokens = [...text.querySelectorAll(".t")];
  const place = new Map(tokens.map((token, index) => [token, index]));
  const frame = text.appendChild(element("div", "", "frame")); // a layer of its own: moving it repaints no text
  let [at, held] = [-1, false];
  const enframe = () => {
    if (at < 0) return;
    const [box, outer] = [tokens[at].getClientRects()[0], text.getBoundingClientRect()];
    frame.style.transform = `translate(${box.left - outer.left}px, ${box.top - outer.top + text.scrollTop}px)`;
    [frame.style.width, frame.style.height] = [`${box.width}px`, `${box.height}px`];
  };
  const go = (index) => {
    if (index === at || !(index in tokens)) return;
    at = index;
    show(at);
    enframe();
  };
  new ResizeObserver(enframe).observe(text);
  const hold = (whether) => {
    held = whether;
    text.classList.toggle("held", held);
  };
  const of = (event) => place.get(event.target.closest(".t"));
  text.addEventListener("mouseover", (event) => held || go(of(event)));
  text.addEventListener("click", (event) => {
    const index = of(event);
    if (index === undefined) return;
    hold(!(held && index === at));
    go(index);
  });
  text.addEventListener("focus", () => at < 0 && text.matches(":focus-visible") && go(0));
  text.addEventListener("keydown", (event) => {
    const last = tokens.length - 1;
    const moves = {
      ArrowRight: () => Math.min(last, at + 1), ArrowLeft: () => Math.max(0, at - 1), Home: () => 0, End: () => last,
      ArrowDown: () => inNextLine(tokens, Math.max(0, at), 1), ArrowUp: () => inNextLine(tokens, Math.max(0, at), -1),
    };
    if (event.key === "Escape") return hold(false);
    if (event.key === "Enter") return hold(!held);
    if (!(event.key in moves)) return;
    event.preventDefault();
    go(moves[event.key]());
    tokens[at].scrollIntoView({ block: "nearest" });
  });
  return go;
}

for (const text of document.querySelectorAll(".text[data-sheet]")) {
  const known = details[text.dataset.sheet];
  if (!known) continue;
  const panel = text.closest(".board").querySelector(".shown");
  const go = follow(text, (index) => {
    const [token, heading, lines] = known[index];
    const named = lines.map(([label, share, amount]) => [strings[label], share, strings[amount]]);
    fill(panel, strings[token], strings[heading], named);
  });
  go(Math.max(0, known.findIndex(([, , lines]) => lines.length))); // the first that has something to show
  panel.ariaLive = "polite";
}

// a link within the page, also where the page stands in a frame of another one
for (const link of document.querySelectorAll("nav a")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    const heading = document.querySelector(`${link.hash} h2`);
    heading.focus();
    heading.scrollIntoView();
  });
}
