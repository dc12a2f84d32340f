"use strict";
// a frame is as high as the page in it
for (const frame of document.querySelectorAll("iframe.inspection")) {
  const fit = () => {
    const inner = frame.contentDocument;
    if (inner?.body) frame.style.height = `${inner.documentElement.offsetHeight + 2}px`;
  };
  frame.addEventListener("load", fit);
  addEventListener("resize", fit);
  fit();
}
