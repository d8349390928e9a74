// The form and the map of the atlas. From a disk browsers load no data, and the tables of the page have them all.

const form = document.querySelector(".ask-atlas");
const { kind, rate, flows, choice } = form.elements;
const FIELDS = [["kind", kind], ["rate", rate], ["flows", flows], ["choice", choice]];
/** Times in ms at which a darker colour begins. */
const STEPS_MS = [0.01, 0.1, 1, 10, 100];

const number = (value, digits = 3) => Number(value.toPrecision(digits)).toLocaleString("en", { maximumFractionDigits: 20 });
const percent = (fraction, digits) => `${number(100 * fraction, digits)} %`;
const time = (s, digits) => (s < 1e-3 ? `${number(1e6 * s, digits)} µs` : `${number(1e3 * s, digits)} ms`);
const packets = (value) => `${Math.round(value).toLocaleString("en")} ${Math.round(value) === 1 ? "packet" : "packets"}`;
const make = (tag, attributes, ...children) => {
  const element = Object.assign(document.createElement(tag), attributes);
  element.append(...children);
  return element;
};

const isLimit = (cell) => cell.sought === "buffer";
const amount = (cell, value) => (isLimit(cell) ? packets(value) : time(value / 1e6));
const found = (cell, { status, value }) =>
  value === null ? "none" : `${status === "smallest" ? "at most " : ""}${amount(cell, value)}`;
const why = (cell, { status, best_utilization: best }) =>
  status === "none" ? `no ${cell.sought} that was tried: at most ${percent(best)}` : "the runs do not decide";
const lossWords = (cell, { value, low_loss_status: status, low_loss_value: low }) =>
  status === "none" ? ` No ${cell.sought} that was tried also loses at most 1 %.`
    : low > value ? ` To lose at most 1 %, ${status === "interpolated" ? "about " : ""}${amount(cell, low)}.` : "";

function sentence(cell) {
  const answer = cell.answers[1];
  const { value, buffer_s, buffer_bdp, loss_fraction, queue_delay_s_mean, queue_delay_s_p99 } = answer;
  if (value === null) return make("p", {}, `98 % utilization: ${why(cell, answer)}.`);
  const [before, size] = isLimit(cell)
    ? ["", ` (${time(buffer_s)}, ${percent(buffer_bdp)} of the bandwidth-delay product) give`]
    : [`A ${cell.sought} of `, ` (${percent(buffer_bdp)} of the mean RTT) gives`];
  return make("p", {}, before, make("strong", {}, found(cell, answer)), `${size} 98 % utilization, with a loss of `,
    make("strong", {}, percent(loss_fraction)),
    `. Packets wait ${time(queue_delay_s_mean)} in the mean, and 99 of 100 at most ${time(queue_delay_s_p99)}.${lossWords(cell, answer)}`);
}

function table(cell) {
  const row = (tag, cells) => make("tr", {}, ...cells.map((one) => make(tag, {}, one)));
  const time_ = isLimit(cell) ? (one) => [time(one.buffer_s)] : () => [];
  const heads = ["utilization", cell.sought, ...(isLimit(cell) ? ["as a time"] : []), "loss", "mean delay"];
  return make("table", {}, make("thead", {}, row("th", heads)), make("tbody", {}, ...cell.answers.map((one) => row("td", [
    percent(one.target_utilization),
    ...(one.value === null ? [why(cell, one), ...heads.slice(2).map(() => "–")]
      : [found(cell, one), ...time_(one), percent(one.loss_fraction), time(one.queue_delay_s_mean)]),
  ]))));
}

/** The address of a cell in the explorer; null if the site has none, or if a browser cannot simulate the cell. */
const explorer = ({ address }) => (form.dataset.explorer && address ? `${form.dataset.explorer}#${address}` : null);

function onward(cell) {
  const href = explorer(cell);
  const open = href ? [make("a", { href }, "Open in the explorer"), ". "]
    : cell.how === "scaled" ? ["Scaled from smaller links: too long a run for a browser. "] : [];
  return make("p", {}, ...open, make("a", { href: cell.page }, "All cells of this kind"), `; this one is ${cell.cell}.`);
}

/** A link as a square: its colour is the time, and it opens in the explorer. */
function square(cell, isChosen) {
  const { value, status, buffer_s, loss_fraction } = cell.answers[1];
  const step = value === null ? "none" : STEPS_MS.filter((from) => 1e3 * buffer_s >= from).length;
  const [answer, lost] = value === null ? [status === "none" ? "not reached" : "undecided", ""]
    : [`${status === "smallest" ? "≤ " : ""}${time(buffer_s, 2)}`, loss_fraction < 1e-4 ? "< 0.01 %" : percent(loss_fraction, 2)];
  const title = `${cell.kind}, ${cell.rate}, ${cell.flows.toLocaleString("en")} flows, RTTs of ${cell.rtt}`;
  const element = make("a", { href: explorer(cell) ?? cell.page, title }, make("strong", {}, answer), make("span", {}, cell.short), make("span", {}, lost));
  element.dataset.step = step;
  if (isChosen) element.setAttribute("aria-current", "true");
  return element;
}

function legend() {
  const words = STEPS_MS.map((ms, i) => (i === 0 ? `below ${time(ms / 1e3)}` : `from ${time(STEPS_MS[i - 1] / 1e3)}`));
  const marks = [...words, `from ${time(STEPS_MS.at(-1) / 1e3)}`].map((text, step) => {
    const mark = make("span", {}, text);
    mark.dataset.step = step;
    return mark;
  });
  return make("p", { className: "atlas-legend" }, ...marks);
}

function map(cells, chosen) {
  const shown = cells.filter((cell) => cell.choice === chosen.choice);
  const rates = [...new Map(shown.map((cell) => [cell.rateBps, cell.rate]))].sort(([a], [b]) => a - b);
  const counts = [...new Set(shown.map((cell) => cell.flows))].sort((a, b) => a - b);
  const rows = counts.map((count) => make("tr", {}, make("th", { scope: "row" }, count.toLocaleString("en")),
    ...rates.map(([bps]) => make("td", {}, ...shown
      .filter((cell) => cell.flows === count && cell.rateBps === bps)
      .map((cell) => square(cell, cell === chosen))))));
  const heads = make("tr", {}, make("th", { scope: "col" }, "flows"), ...rates.map(([, words]) => make("th", { scope: "col" }, words)));
  const caption = `The same for all links, ${chosen.choice}: the ${isLimit(chosen) ? "buffer as a time" : chosen.sought} for 98 % utilization, the kind of link, and the loss. A press opens the link in the explorer, or its page where a browser would take too long.`;
  return [make("p", {}, caption), legend(), make("table", {}, make("thead", {}, heads), make("tbody", {}, ...rows))];
}

/** Shows the cell that the fields mean; each offers what those before it leave. */
function show(cells) {
  let left = cells;
  for (const [name, select] of FIELDS) {
    const values = [...new Set(left.map((cell) => String(cell[name])))];
    const value = values.includes(select.value) ? select.value : values[0];
    const words = (one) => (name === "flows" ? Number(one).toLocaleString("en") : one);
    select.replaceChildren(...values.map((one) => new Option(words(one), one)));
    select.value = value;
    left = left.filter((cell) => String(cell[name]) === value);
  }
  const [cell] = left;
  const about = `RTTs of ${cell.rtt}, ${cell.choice}:`;
  form.querySelector("[role=status]").replaceChildren(
    make("p", {}, about), sentence(cell), table(cell), make("p", {}, cell.age), onward(cell));
  form.querySelector(".atlas-map").replaceChildren(...map(cells, cell));
}

const response = await fetch("../../_static/atlas.json").catch(() => null);
if (response?.ok) {
  const cells = await response.json();
  form.addEventListener("change", () => show(cells));
  kind.append(new Option("Home access over fibre or cable"));
  show(cells);
  form.hidden = false;
}
