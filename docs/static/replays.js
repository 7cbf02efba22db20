// Puts a replay in the place of its picture: on a click, or, where it is live, once it comes into view.
"use strict";

function play(box) {
  const button = box.querySelector("button[data-replay]");
  if (!button) return;
  const picture = box.querySelector("img");
  const frame = document.createElement("iframe");
  frame.src = button.dataset.replay;
  frame.title = picture ? picture.alt : "replay";
  frame.allowFullscreen = true;
  if (picture) picture.replaceWith(frame);
  else box.prepend(frame);
  button.remove();
}

addEventListener("DOMContentLoaded", () => {
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      seen.unobserve(entry.target);
      play(entry.target);
    }
  });
  for (const box of document.querySelectorAll(".replay")) {
    const button = box.querySelector("button[data-replay]");
    if (button) button.addEventListener("click", () => play(box));
    if (box.classList.contains("replay-live")) seen.observe(box);
  }
});
