// The views, by their names: each makes elements of the JSON that the server gives.

import { curves, share, spark, stacks } from "./charts.js";
import { element, heading, table, tile, tiles } from "./dom.js";
import { clock, number, percent, rate, seconds } from "./format.js";
import { nodeDetails, planGraph } from "./graph.js";

function now(data) {
  const streams = data.streams.map((line) => [line.alias, rate(line.rate), spark(line.rates, line.predicted),
    rate(line.predicted), rate(line.arrival_rate), number(line.tuples), line.shed ? number(line.shed) : "",
    percent(line.kept)]);
  const sources = data.sources.map((line) => [line.name, number(line.read), number(line.late),
    line.malformed ? number(line.malformed) : "", line.behind === null ? "" : seconds(line.behind),
    line.backlog === null ? "" : number(line.backlog)]);
  return [
    element("p", { class: "verdict" }, data.verdict),
    tiles(
      element("div", {}, element("dt", {}, "busy, of 1"), element("dd", {}, percent(data.busy)), share(data.busy, data.is_running)),
      tile("lag", seconds(data.lag)),
      tile("delay", seconds(data.delay), data.expected_delay === null ? "" : `expected ${seconds(data.expected_delay)}`),
      tile("results", rate(data.output_rate), `expected ${rate(data.predicted_output_rate)}; ${number(data.total_results)} in all`),
      tile("work", data.work === null ? "–" : `${number(data.work)} s/s`, `expected ${number(data.predicted_work)} s/s`),
      tile("batch", number(data.batch), clock(data.at)),
    ),
    data.waiting ? element("p", {}, `No results in the last batch: ${data.waiting}`) : null,
    heading("Streams"),
    table([["input"], ["rate", true], ["history"], ["expected", true], ["by the clock", true], ["tuples", true],
      ["shed", true], ["kept", true]], streams),
    heading("Sources"),
    table([["source"], ["rows", true], ["late", true], ["malformed", true], ["behind the newest", true], ["to read", true]], sources),
    heading("Results a second"),
    curves([{ name: "results/s", values: data.output_rates }], { ruler: data.predicted_output_rate,
      form: rate, label: "results for a second of event time, by batch; the line is what was expected" }),
  ];
}

function plan(data) {
  if (!data.nodes.length) return [element("p", { class: "faint" }, "No batch has told of its plan yet.")];
  const details = element("div", {}, element("p", { class: "faint" }, "Choose a node to see its figures and its place in the query."));
  const choose = (node) => details.replaceChildren(nodeDetails(node, data.text));
  return [
    element("p", {}, "Batch ", number(data.batch), " follows ", element("code", {}, data.plan)),
    data.filling.length ? element("p", {}, `Inner state fills itself: ${data.filling.join(", ")}`) : null,
    planGraph(data, choose), details,
  ];
}

function batches(data) {
  if (!data.batches.length) return [element("p", { class: "faint" }, "No batch yet.")];
  const bars = data.batches.map((bar) => data.phases.filter((name) => name !== "wait").map((name) => bar.phases[name] || 0));
  const titles = data.batches.map((bar) => `batch ${bar.batch}: ${seconds(bar.seconds)}${bar.is_switch ? ", another plan" : ""}`);
  const rows = data.batches.slice(-20).reverse().map((bar) => [bar.is_switch ? `${bar.batch} (another plan)` : number(bar.batch),
    clock(bar.at), seconds(bar.seconds), seconds(bar.cpu), percent(bar.busy), number(bar.read), number(bar.results),
    number(bar.state_tuples), bar.backlog === null ? "" : number(bar.backlog), bar.delay === null ? "" : seconds(bar.delay)]);
  return [
    heading(data.trigger ? `Seconds by phase; the line is the trigger, ${seconds(data.trigger)}` : "Seconds by phase"),
    stacks(data.phases.filter((name) => name !== "wait"), bars, { ruler: data.trigger, form: seconds, titles }),
    heading("Pieces that wait to be read"),
    curves([{ name: "backlog", values: data.batches.map((bar) => bar.backlog) }], { form: number, label: "files and blocks, by batch" }),
    table([["batch"], ["at"], ["took", true], ["CPU", true], ["busy", true], ["read", true], ["results", true],
      ["state", true], ["to read", true], ["delay", true]], rows),
  ];
}

export const TITLES = { now: "Now", plan: "Plan", batches: "Batches" };
export const VIEWS = { now, plan, batches };
