// Puts a replay in the place of its picture: on a click, or, where it is live, once it comes into view.
"use strict";

// Replays are dark where the page is: by the theme that the reader has chosen, or else by the system.
function isDark() {
  const theme = document.body.dataset.theme;
  return theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
}

function colored(address) {
  return `${address.split("#")[0]}#${isDark() ? "dark" : "light"}`;
}

function play(box) {
  const button = box.querySelector("button[data-replay]");
  if (!button) return;
  const picture = box.querySelector("img");
  const frame = document.createElement("iframe");
  frame.src = colored(button.dataset.replay);
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
  new MutationObserver(() => {
    for (const frame of document.querySelectorAll(".replay iframe")) {
      if (frame.src !== colored(frame.src)) frame.src = colored(frame.src);
    }
  }).observe(document.body, { attributeFilter: ["data-theme"] });
});
