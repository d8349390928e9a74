/** What the page shows as one file of HTML: pictures with zoom and hover, without a server. */

import uplotStyle from "uplot/dist/uPlot.min.css?inline";
import type { Picture } from "../pictures/picture";
import { escapeXml } from "../pictures/svg";
import { hashText } from "../scenario/reading";
import style from "./document.css?inline";

export interface DocumentPart {
  title: string;
  texts: string[];
  pictures: Picture[];
  /** A table: its head and its rows. */
  table: string[][];
}

export interface PageDocument {
  title: string;
  /** For names of files. */
  name: string;
  parts: DocumentPart[];
  scenario: string;
  /** Null if the scenario names files. */
  hash: string | null;
  build: string;
  /** Address of the page; empty where others cannot open it. */
  address: string;
}

/** Nothing in the file may load anything; its own script and style are inline. */
const POLICY =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";

/** Returns the file.
 *
 * @param script - The script that draws the pictures (`viewer.js` of the page).
 */
export function documentText(page: PageDocument, script: string): string {
  const pictures = page.parts.flatMap((part) => part.pictures);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>${escapeXml(page.title)}</title>
<style>${uplotStyle}
${style}</style>
</head>
<body>
<h1>${escapeXml(page.title)}</h1>
${page.parts.map(partText).join("\n")}
<h2>Scenario</h2>
<p>Hash ${escapeXml(hashText(page.hash))}; engine ${escapeXml(page.build)}.${linkText(page.address)}</p>
<pre>${escapeXml(page.scenario)}</pre>
<script type="application/json" id="pictures">${jsonForScript(pictures)}</script>
<script>${script.replaceAll("</script", "<\\/script")}</script>
</body>
</html>
`;
}

function linkText(address: string): string {
  return address && `\n<a href="${escapeXml(address)}">Open in the page</a>`;
}

/** JSON that cannot end the script element that it stands in. */
export function jsonForScript(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c");
}

function partText({ title, texts, pictures, table }: DocumentPart): string {
  const [head = [], ...rows] = table;
  const cells = (row: string[], tag: string): string =>
    `<tr>${row.map((cell) => `<${tag}>${escapeXml(cell)}</${tag}>`).join("")}</tr>`;
  const body = rows.map((row) => cells(row, "td")).join("\n");
  return [
    `<h2>${escapeXml(title)}</h2>`,
    ...texts.map((text) => `<p>${escapeXml(text)}</p>`),
    '<div class="pictures">',
    ...pictures.map(
      (picture) =>
        `<figure><figcaption>${escapeXml(picture.title)}</figcaption>` +
        '<div class="chart"></div></figure>',
    ),
    "</div>",
    table.length > 0 ? `<div class="scrolls"><table>${cells(head, "th")}${body}</table></div>` : "",
  ].join("\n");
}
