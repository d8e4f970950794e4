// The views, by their names: each makes elements of the JSON that the server gives.

import { hue, share, spark } from "./charts.js";
import { curves } from "./curves.js";
import { drawn, element, heading, table, tile, tiles } from "./dom.js";
import { bytes, clock, count, figure, moreWork, percent, rate, seconds } from "./format.js";
import { costTable, nodeDetails, planGraph } from "./graph.js";

function delayNotes(data) {
  const known = [["wanted", data.wanted_delay], ["expected", data.expected_delay]].filter(([, value]) => value !== null);
  return known.map(([word, value]) => `${word} ${seconds(value)}`).join("; ");
}

function now(data, { of }) {
  const streams = data.streams.map((line) => [line.alias, rate(line.rate), spark(line.rates, line.predicted),
    rate(line.predicted), rate(line.arrival_rate), count(line.tuples), line.shed ? count(line.shed) : "",
    percent(line.kept)]);
  const sources = data.sources.map((line) => [line.name, count(line.read), count(line.late),
    line.malformed ? count(line.malformed) : "", line.behind === null ? "" : seconds(line.behind),
    line.backlog === null ? "" : count(line.backlog)]);
  return [
    element("p", { class: "verdict" }, data.verdict),
    tiles(
      element("div", {}, element("dt", {}, "busy, of 1"), element("dd", {}, percent(data.busy)), share(data.busy, data.is_running && !data.reads_all)),
      tile("lag", seconds(data.lag)),
      tile("delay", seconds(data.delay), delayNotes(data)),
      tile("results", rate(data.output_rate), `expected ${rate(data.predicted_output_rate)}; ${count(data.total_results)} in all`),
      tile("work", data.work === null ? "–" : `${figure(data.work)} s/s`, `expected ${figure(data.predicted_work)} s/s`),
      tile("batch", count(data.batch), clock(data.at)),
    ),
    data.waiting ? element("p", {}, `No results in the last batch: ${data.waiting}`) : null,
    heading("Streams"),
    table([["input"], ["rate", true], ["history"], ["expected", true], ["by the clock", true], ["tuples", true],
      ["shed", true], ["kept", true]], streams),
    heading("Sources"),
    table([["source"], ["rows", true], ["late", true], ["malformed", true], ["lag", true], ["backlog", true]], sources),
    curves(data.charts, of),
  ];
}

// The node that somebody has chosen stays chosen when another batch comes.
let chosenNode = null;

function plan(data) {
  if (!data.nodes.length) return [element("p", { class: "faint" }, "No batch has told of its plan yet.")];
  const details = element("div", {}, element("p", { class: "faint" }, "Choose a node to see its figures and its place in the query."));
  const choose = (node) => { chosenNode = node.id; details.replaceChildren(nodeDetails(node, data.text)); };
  const before = data.nodes.find((node) => node.id === chosenNode);
  if (before) choose(before);
  return [
    element("p", {}, "Batch ", count(data.batch), " follows ", element("code", {}, data.plan)),
    data.standing ? element("p", { class: data.better === null ? "faint" : null }, `It is ${data.standing}.`) : null,
    data.filling.length ? element("p", {}, `Inner state fills itself: ${data.filling.join(", ")}`) : null,
    planGraph(data, choose), details,
    data.terms.length ? heading("What the plan takes, by the planner's model and the figures of now") : null,
    data.terms.length ? costTable(data.terms) : null,
  ];
}

function batches(data, { of }) {
  if (!data.batches.length) return [element("p", { class: "faint" }, "No batch yet.")];
  const skews = Object.entries(data.skews);
  const rows = data.batches.slice(-20).reverse().map((bar) => [bar.is_switch ? `${bar.batch} (another plan)` : count(bar.batch),
    clock(bar.at), seconds(bar.seconds), seconds(bar.cpu), percent(bar.busy), count(bar.read), count(bar.results),
    count(bar.state_tuples), bar.backlog === null ? "" : count(bar.backlog), bar.delay === null ? "" : seconds(bar.delay)]);
  return [
    curves(data.charts, of),
    skews.length ? heading("Largest partitions, after the last batch") : null,
    skews.length ? table([["module"], ["largest, of the mean", true], ["", false]],
      skews.map(([name, skew]) => [name, `${figure(skew)} ×`, share(1 / skew, false)])) : null,
    heading("The last batches"),
    table([["batch"], ["at", true], ["took", true], ["CPU", true], ["busy", true], ["read", true], ["results", true],
      ["state", true], ["backlog", true], ["delay", true]], rows),
  ];
}

function decisions(data) {
  const said = (line) => [line.promise === null ? null : `promised to save ${percent(line.promise)} of the work`,
    line.outcome === null ? null : `saved ${percent(line.outcome)}`].filter(Boolean).join(", ");
  const lines = data.decisions.map((line) => element("div", { class: `line ${line.kind}` },
    element("p", { class: "faint" }, clock(line.at), line.batch === null ? "" : `, batch ${line.batch}`, ` – ${line.kind}`),
    element("p", {}, line.reason), line.plan ? element("p", {}, element("code", {}, line.plan)) : null,
    said(line) ? element("p", { class: "faint" }, said(line)) : null));
  const plans = data.plans.map((span) => [element("code", {}, span.plan), `${count(span.first)} to ${count(span.last)}`,
    clock(span.since), seconds(span.until - span.since)]).reverse();
  return [heading("Plans"), table([["plan"], ["batches"], ["since", true], ["for", true]], plans),
    heading("Decisions, the latest first"),
    ...(lines.length ? lines : [element("p", { class: "faint" }, "Nothing was decided yet.")])];
}

// Hot keys are counted when somebody asks for them, and stay until then.
const hot = { of: null, shown: null };

function keyTables(data) {
  if (data.missing) return [element("p", { class: "faint" }, data.missing)];
  const rows = data.modules.flatMap((module) => module.hottest.map((line) => [module.module, line.key, count(line.rows),
    percent(line.part), `${figure(line.times_mean)} × the mean`, module.by]));
  const looks = data.modules.map((module) => `${count(module.looked_at)} of ${count(module.rows)} rows of ${module.module}, ${count(module.keys)} keys`);
  return [element("p", { class: "faint" }, `After batch ${count(data.batch)}; looked at ${looks.join("; ")}.`),
    table([["module"], ["key"], ["rows", true], ["part", true], ["a key's rows", true], ["by"]], rows)];
}

function hotKeys({ ask, of }) {
  if (hot.of !== of) Object.assign(hot, { of, shown: element("div", { id: "hot" }) });
  const look = async () => {
    hot.shown.replaceChildren(element("p", { class: "faint" }, "counting …"));
    const found = await ask("hot-keys").then(keyTables, (error) => [element("p", { class: "bad" }, error.message)]);
    hot.shown.replaceChildren(...found);
  };
  return [heading("Hot keys"), element("p", { class: "buttons" },
    element("button", { type: "button", "data-ask": "hot-keys", onclick: look }, "Count them in the state")), hot.shown];
}

function state(data, asking) {
  const rows = data.modules.map((module) => [module.name, count(module.tuples), spark(module.history, module.predicted),
    module.predicted === null ? "" : element("span", { class: module.is_off ? "bad" : null }, figure(module.predicted)),
    bytes(module.bytes), module.skew === null ? "" : `${figure(module.skew)} × the mean`]);
  const parts = data.modules.flatMap((module) => module.partitions.map((part) =>
    [module.name, count(part.partition), count(part.tuples), bytes(part.bytes)]));
  return [
    tiles(tile("tuples", count(data.tuples), `expected ${figure(data.predicted)}`), tile("on disk", bytes(data.bytes)),
      tile("after batch", count(data.batch))),
    curves(data.charts, asking.of),
    heading("Modules"),
    table([["module"], ["tuples", true], ["history"], ["expected", true], ["bytes", true], ["largest partition", true]], rows),
    parts.length ? heading("Partitions") : null,
    parts.length ? table([["module"], ["partition", true], ["tuples", true], ["bytes", true]], parts) : null,
    ...(data.modules.length ? hotKeys(asking) : []),
  ];
}

function shedding(data, { of }) {
  const rows = data.inputs.map((line) => [line.alias, percent(line.keep), spark(line.keeps, 1), count(line.tuples),
    count(line.shed), count(line.total_shed)]);
  const widths = data.widths.map((line) => [line.column, `± ${percent(line.width)}`, count(line.rows)]);
  return [
    element("p", { class: "verdict" }, data.is_shedding ? "Tuples are shed" : "Nothing is shed"),
    tiles(tile("results", rate(data.results), `expected ${rate(data.expected_results)}`),
      tile("delay", seconds(data.delays.at(-1) ?? null), delayNotes(data))),
    table([["input"], ["kept", true], ["history"], ["tuples", true], ["shed", true], ["shed in all", true]], rows),
    curves(data.charts, of),
    widths.length ? heading("Intervals of the rows that are shown") : null,
    widths.length ? table([["column"], ["half of the interval, in the mean", true], ["rows", true]], widths) : null,
  ];
}

let before = null;

function results(data) {
  if (data.missing) return [element("p", { class: "faint" }, data.missing)];
  const texts = data.rows.map((row) => JSON.stringify(row));
  const old = before;
  before = { columns: data.columns.join(), seen: new Set(texts) };
  const isNew = (text) => old !== null && old.columns === before.columns && !old.seen.has(text);
  const made = table(data.columns.map((name) => [name]), data.rows.map((row) => row.map((cell) => (cell === null ? "NULL" : String(cell)))));
  made.querySelectorAll("tbody tr").forEach((row, place) => { if (isNew(texts[place])) row.classList.add("new"); });
  const what = data.is_view ? "rows that the view shows now" : "last results";
  return [element("p", {}, `${count(data.rows.length)} ${what}${data.is_all ? "" : ", of more"}; ${count(data.total)} results in all. `,
    data.at ? `As of ${clock(data.at)}, ${seconds(Math.max(0, Date.now() / 1000 - data.at))} ago.` : ""), made];
}

function alternatives(data) {
  if (data.missing) return [element("p", { class: "faint" }, data.missing)];
  const best = Math.min(...data.plans.map((line) => line.work));
  const says = (line) => {
    if (line.is_running) return "runs now";
    if (!(line.saves > 0)) return moreWork(line.saves);
    const cost = line.rebuild ? `; ${seconds(line.rebuild)} to rebuild, paid after ${seconds(line.pays_after)}` : "; nothing to rebuild";
    return `would save ${percent(line.saves)}${cost}`;
  };
  const rows = data.plans.map((line) => [element("code", {}, line.plan), line.kind, `${figure(line.work)} s/s`,
    share(line.work > 0 ? best / line.work : 1, false), line.is_running ? element("b", {}, says(line)) : says(line)]);
  return [element("p", {}, `By the figures that were measured up to batch ${data.batch}. The last batches took `
    + `${figure(data.measured_work)} s of work for a second of event time.`),
    table([["plan"], ["kind"], ["work", true], ["as good as the best"], ["a switch"]], rows)];
}

function slider(name, value, form, change) {
  const shown = element("output", {}, form(value));
  const input = element("input", { type: "range", min: -1, max: 1, step: 0.05, value: 0, "aria-label": name });
  input.addEventListener("input", () => {
    const now = value * 10 ** Number(input.value);
    shown.textContent = form(now);
    change(now);
  });
  return element("label", {}, `${name}: `, shown, input);
}

function whatIfAnswer(data) {
  if (data.missing) return [element("p", { class: "faint" }, data.missing)];
  const kept = Object.entries(data.keep).filter(([, part]) => part < 1).map(([alias, part]) => `${percent(part)} of ${alias}`).join(", ");
  return [
    element("p", { class: data.is_feasible ? "verdict" : "verdict bad" }, data.is_feasible
      ? `It keeps up with ${percent(1 - data.needed / data.cores)} to spare`
      : `It does not keep up${kept ? `; shedding would keep ${kept}` : ""}`),
    tiles(tile("work", `${figure(data.needed)} s/s`, `of ${figure(data.cores)}`), tile("state", `${figure(data.state)} tuples`),
      tile("results", rate(data.output_rate), data.output_rate < data.full_rate ? `of ${rate(data.full_rate)}` : ""),
      tile("delay", seconds(data.delay), "in the mean")),
    element("p", {}, data.plan === data.running ? "The plan that runs is the best: " : "The best plan would be ", element("code", {}, data.plan)),
  ];
}

function drawnMap(data) {
  const colour = (cell) => `hsl(${hue(cell.plan)} ${cell.is_feasible ? 55 : 25}% ${cell.is_feasible ? 52 : 38}%)`;
  const size = 54;
  const side = data.cells.length;
  const svg = drawn("svg", { viewBox: `0 0 ${70 + size * side} ${44 + size * side}`, role: "img", "aria-label": "the best plan by two rates" });
  svg.style.maxWidth = "520px";
  data.cells.forEach((row, along) => row.forEach((cell, across) => svg.append(drawn("rect", {
    x: 70 + across * size, y: (side - 1 - along) * size, width: size - 2, height: size - 2, fill: colour(cell) },
    drawn("title", {}, `${data.plans[cell.plan]}: ${figure(cell.needed)} s/s${cell.is_feasible ? "" : ", does not keep up"}`)))));
  data.y_rates.forEach((each, along) => svg.append(drawn("text", { x: 2, y: (side - 1 - along) * size + 30 }, figure(each))));
  data.x_rates.forEach((each, across) => svg.append(drawn("text", { x: 72 + across * size, y: side * size + 16 }, figure(each))));
  svg.append(drawn("text", { x: 72, y: side * size + 36 }, `${data.x}, tuples/s; upwards ${data.y}; dark: no plan keeps up`));
  const legend = data.plans.map((plan, place) => {
    const swatch = element("span", { class: "swatch" });
    swatch.style.background = `hsl(${hue(place)} 55% 52%)`;
    return element("span", {}, swatch, plan);
  });
  return element("figure", {}, svg, element("div", { class: "legend" }, legend));
}

function whatIf(data, { ask }) {
  if (data.missing) return whatIfAnswer(data);
  const supposed = {};
  const answer = element("div", { id: "answer" }, whatIfAnswer(data));
  let waiting = null;
  let asked = 0;
  const suppose = (name) => (value) => {
    supposed[name] = value;
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const mine = ++asked;
      const found = await ask("what-if", supposed).then(whatIfAnswer, (error) => [element("p", { class: "bad" }, error.message)]);
      if (mine === asked) answer.replaceChildren(...found);
    }, 60);
  };
  const sliders = data.settings.flatMap((line) => [
    line.rate ? slider(`rate of ${line.alias}`, line.rate, rate, suppose(`rate.${line.alias}`)) : null,
    line.window ? slider(`window of ${line.alias}`, line.window, line.is_rows ? (rows) => `${count(Math.max(1, Math.round(rows)))} rows` : seconds,
      suppose(`window.${line.alias}`)) : null,
  ]);
  const map = element("div");
  const streams = data.settings.filter((line) => line.rate).map((line) => line.alias);
  const draw = async (x, y) => {
    map.replaceChildren(element("p", { class: "faint" }, "planning …"));
    const found = await ask("plan-map", { x, y }).then(drawnMap, (error) => element("p", { class: "bad" }, error.message));
    map.replaceChildren(found);
  };
  const pairs = streams.flatMap((x, place) => streams.slice(place + 1).map((y) => [x, y]));
  const buttons = pairs.slice(0, 15).map(([x, y]) => element("button", { type: "button", onclick: () => draw(x, y) }, `${x} × ${y}`));
  return [answer, heading("Suppose"),
    element("div", { class: "sliders" }, sliders, slider("cores", data.cores, figure, suppose("cores"))),
    pairs.length ? heading("The best plan over two rates") : null,
    pairs.length ? element("p", { class: "buttons" }, buttons) : null, map];
}

export const TITLES = { now: "Now", plan: "Plan", alternatives: "Alternatives", "what-if": "What if", batches: "Batches",
  decisions: "Decisions", state: "State", shedding: "Shedding", results: "Results" };
export const VIEWS = { now, plan, alternatives, "what-if": whatIf, batches, decisions, state, shedding, results };
// Views in which somebody sets something are not drawn anew with every batch.
export const STILL = new Set(["what-if"]);
