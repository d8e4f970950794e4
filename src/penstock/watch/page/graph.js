// The plan as it runs: nodes in columns by their level, edges as wide as their rates.

import { drawn, element, table } from "./dom.js";
import { both, figure, percent, rate, seconds } from "./format.js";

const BOX = { width: 168, height: 62, gap: 84, between: 20 };
const shortened = (text, most = 18) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function placed(nodes) {
  const columns = new Map();
  for (const node of nodes) {
    if (!columns.has(node.level)) columns.set(node.level, []);
    columns.get(node.level).push(node);
  }
  const most = Math.max(...[...columns.values()].map((column) => column.length), 1);
  const height = most * (BOX.height + BOX.between);
  const places = new Map();
  for (const [level, column] of columns) {
    const free = height / column.length;
    column.forEach((node, row) => places.set(node.id, {
      x: 6 + level * (BOX.width + BOX.gap),
      y: 6 + row * free + (free - BOX.height) / 2,
    }));
  }
  const levels = Math.max(...columns.keys(), 0);
  return { places, width: 12 + BOX.width + levels * (BOX.width + BOX.gap), height: height + 12 };
}

const kindOf = { input: "tuples/s", filter: "pass", probe: "out for one in", join: "tuples kept", results: "results/s" };

function box(node, at, choose) {
  const load = drawn("rect", { x: at.x, y: at.y, width: BOX.width, height: BOX.height, rx: 8 });
  if (node.load > 0) load.style.fill = `hsl(${Math.round(150 - 145 * node.load)} 55% var(--fill))`;
  const title = node.kind === "probe" ? `probe ${node.name}` : node.name;
  const pick = () => choose(node);
  return drawn("g", { class: `node ${node.kind}`, tabindex: 0, role: "button", onclick: pick,
    onkeydown: (event) => { if (event.key === "Enter") pick(); } },
    drawn("title", {}, `${title}: ${kindOf[node.kind]} ${both(node.measured, node.estimated)}`),
    load,
    node.is_off ? drawn("rect", { class: "ring", x: at.x - 4, y: at.y - 4, width: BOX.width + 8,
      height: BOX.height + 8, rx: 11 }) : null,
    drawn("text", { class: "name", x: at.x + 10, y: at.y + 20 }, shortened(title)),
    drawn("text", { x: at.x + 10, y: at.y + 37 }, both(node.measured, node.estimated)),
    drawn("text", { x: at.x + 10, y: at.y + 53 },
      node.seconds ? `${percent(node.load)} of the time` : kindOf[node.kind]));
}

function flow(edge, places, most) {
  const start = places.get(edge.start);
  const end = places.get(edge.end);
  const [x, y] = [start.x + BOX.width, start.y + BOX.height / 2];
  const [to, level] = [end.x, end.y + BOX.height / 2];
  const middle = (x + to) / 2;
  const width = 1.2 + 8 * Math.sqrt(most > 0 ? (edge.measured || 0) / most : 0);
  const line = drawn("path", { class: edge.is_off ? "flow off" : "flow",
    "stroke-width": width.toFixed(1), d: `M${x} ${y}C${middle} ${y} ${middle} ${level} ${to} ${level}` },
    drawn("title", {}, `${both(edge.measured, edge.estimated, rate)} (measured | estimated)`));
  return [line, drawn("text", { x: x + 6, y: y - 8 }, rate(edge.measured)),
    drawn("text", { x: x + 6, y: y + 18 }, edge.estimated === null ? "" : `| ${figure(edge.estimated)}`)];
}

export function planGraph(graph, choose) {
  const { places, width, height } = placed(graph.nodes);
  const most = Math.max(...graph.edges.map((edge) => edge.measured || 0), 0);
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `The plan ${graph.plan}` });
  svg.style.minWidth = `${Math.min(width, 760)}px`;
  svg.style.maxWidth = `${width}px`;
  svg.append(...graph.edges.flatMap((edge) => flow(edge, places, most)));
  svg.append(...graph.nodes.map((node) => box(node, places.get(node.id), choose)));
  return element("figure", {}, element("div", { class: "wide" }, svg),
    element("figcaption", {}, "Measured | estimated. Widths are rates, colours the share of the time; "
      + "a ring where they differ by more than a factor of two."));
}

// What work takes: how often it is done a second, what one takes, and what that comes to.
export function costTable(terms) {
  const whole = terms.reduce((sum, term) => sum + term.seconds, 0);
  const rows = terms.map((term) => [term.what, term.count === null ? "" : rate(term.count),
    term.unit === null ? "" : seconds(term.unit), `${figure(term.seconds)} s/s`, percent(whole > 0 ? term.seconds / whole : 0)]);
  if (terms.length > 1) rows.push(["together", "", "", `${figure(whole)} s/s`, ""]);
  return table([["work"], ["times", true], ["× one takes", true], ["= work", true], ["of it", true]], rows);
}

// The text with the stretches marked that are in `spans`. They count whole characters.
function marked(text, spans) {
  const letters = Array.from(text);
  const shown = element("pre", {});
  let at = 0;
  for (const [start, end] of spans) {
    const from = Math.max(at, start);
    if (from >= end) continue;
    shown.append(letters.slice(at, from).join(""), element("mark", {}, letters.slice(from, end).join("")));
    at = end;
  }
  shown.append(letters.slice(at).join(""));
  return shown;
}

// What is known of a node, and where it stands in the query.
export function nodeDetails(node, text) {
  const facts = element("p", {}, element("b", {}, node.name), ` (${node.kind}): ${node.formula || "–"}; `,
    `${kindOf[node.kind]} ${both(node.measured, node.estimated)} (measured | estimated)`,
    node.seconds ? `; ${seconds(node.seconds)} of the batch` : "");
  return element("div", { id: "node", "data-node": node.id }, facts, node.terms.length ? costTable(node.terms) : null,
    text ? marked(text, node.spans) : null);
}
