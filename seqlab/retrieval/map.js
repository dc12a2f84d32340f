"use strict";
const points = JSON.parse(document.getElementById("points").textContent);
const [X, Y, TITLE, ID, TEXT, GROUP, NEAR] = [0, 1, 2, 3, 4, 5, 6];
const map = document.getElementById("map");
const shown = document.getElementById("shown");
const words = document.getElementById("words");
const count = document.getElementById("count");
const MARGIN = 18, WIDTH = 1000, HEIGHT = 700, LISTED = 12;
let held = null;

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

const radius = points.length > 600 ? 4 : 6;
const circles = points.map((point, row) => {
  const circle = document.createElementNS("http://www.w3.org/2000/svg", "circle");
  circle.setAttribute("cx", MARGIN + point[X] * (WIDTH - 2 * MARGIN));
  circle.setAttribute("cy", MARGIN + point[Y] * (HEIGHT - 2 * MARGIN));
  circle.setAttribute("r", radius);
  circle.classList.add(`g${point[GROUP]}`);
  circle.addEventListener("pointerenter", () => held === null && show(row));
  circle.addEventListener("click", () => { held = held === row ? null : row; show(row); });
  map.append(circle);
  return circle;
});

function list(heading, rows) {
  const items = element("ul");
  for (const row of rows) {
    const button = element("button", points[row][TITLE]);
    button.type = "button";
    button.addEventListener("click", () => { held = row; show(row); });
    const item = element("li");
    item.append(button);
    items.append(item);
  }
  return [element("p", heading, "quiet"), items];
}

function show(row) {
  const point = points[row];
  circles.forEach((circle, other) => {
    circle.classList.toggle("held", other === row);
    circle.classList.toggle("near", point[NEAR].includes(other));
  });
  map.append(circles[row]);
  shown.replaceChildren(
    element("h2", point[TITLE]), element("p", point[ID], "quiet"), element("p", `${point[TEXT]} …`),
    ...list("nearest documents", point[NEAR]),
  );
}

function search() {
  const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = [];
  points.forEach((point, row) => {
    const text = `${point[TITLE]} ${point[ID]} ${point[TEXT]}`.toLowerCase();
    const fits = wanted.every((word) => text.includes(word));
    circles[row].classList.toggle("faded", !fits);
    if (fits) found.push(row);
  });
  count.textContent = wanted.length ? `${found.length} of ${points.length}` : "";
  if (!wanted.length) return;
  held = null;
  circles.forEach((circle) => circle.classList.remove("held", "near"));
  const more = found.length > LISTED ? `, the first ${LISTED}` : "";
  shown.replaceChildren(...list(`found: ${found.length}${more}`, found.slice(0, LISTED)));
}

words.addEventListener("input", search);
