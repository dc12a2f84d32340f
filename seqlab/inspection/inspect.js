"use strict";
// what a token shows when it is pointed at, or reached with the arrow keys
const { strings, details } = JSON.parse(document.getElementById("details").textContent);
const element = (name, text) => {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
};
for (const text of document.querySelectorAll(".text")) {
  const tokens = [...text.querySelectorAll(".t")];
  const shown = text.parentElement.querySelector(".shown");
  const known = details[text.dataset.sheet];
  const place = new Map(tokens.map((token, index) => [token, index]));
  let at = -1;
  const show = (index) => {
    if (index === at || !(index in known)) return;
    tokens[at]?.classList.remove("on");
    at = index;
    tokens[at].classList.add("on");
    const [token, heading, lines] = known[at];
    shown.replaceChildren(element("h3", strings[token]), element("p", strings[heading]));
    for (const [label, share, amount] of lines) {
      const row = document.createElement("div");
      const bar = document.createElement("u");
      bar.style.width = `${100 * Math.min(1, Math.max(0, share))}%`;
      row.append(bar, element("span", strings[label]), element("span", strings[amount]));
      shown.append(row);
    }
  };
  text.addEventListener("mouseover", (event) => {
    const token = event.target.closest(".t");
    if (token) show(place.get(token));
  });
  text.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -tokens.length, End: tokens.length }[event.key];
    if (!step) return;
    event.preventDefault();
    show(Math.min(tokens.length - 1, Math.max(0, at + step)));
    tokens[at].scrollIntoView({ block: "nearest" });
  });
}
