/** Draws the pictures of an exported document. A script of its own, which the document holds. */

import { Chart } from "../pictures/chart";
import type { Picture } from "../pictures/picture";

const pictures = JSON.parse(document.getElementById("pictures")?.textContent ?? "[]") as Picture[];
const charts = [...document.querySelectorAll<HTMLElement>(".chart")].map((host, place) => {
  const chart = new Chart(host);
  const picture = pictures[place];
  if (picture) chart.show(picture);
  return chart;
});
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const chart of charts) chart.restyle();
});
