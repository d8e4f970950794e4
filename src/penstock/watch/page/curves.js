// Curves over batches, drawn by uPlot: values at the cursor, in the colours of the page, as wide as there is room.
// Drag to look closer, click twice to see all again.

/* global uPlot */
import { hue } from "./charts.js";
import { element } from "./dom.js";
import * as format from "./format.js";

const HEIGHT = 190;
// A chart that is shown is kept and given the new values: the cursor and what is looked at stay where they are.
const kept = new Map();

// The canvas knows no variables of the style sheet: they are looked up whenever something is drawn.
const styled = (text) => text.replace(/var\((--[\w-]+)\)/g,
  (_, name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim());
const painted = (colour) => () => styled(colour);
const colourOf = (curve) => `hsl(${hue(curve.hue)} 60% var(--stroke))`;

// From the first to be drawn to the last: of a stack the topmost first, which those below it then cover.
function drawingOrder(chart) {
  const parts = chart.curves.filter((curve) => !curve.is_expected);
  const others = chart.curves.filter((curve) => curve.is_expected);
  return chart.is_stacked ? [...parts.reverse(), ...others] : chart.curves;
}

// The values as they are drawn: of a stack, with all that is below.
function drawnValues(chart, order) {
  return order.map((curve, place) => {
    if (!chart.is_stacked || curve.is_expected) return curve.values;
    const below = order.slice(place).filter((each) => !each.is_expected);
    return curve.values.map((_, batch) => below.reduce((sum, each) => sum + (each.values[batch] || 0), 0));
  });
}

// A value without neighbours has no line: it gets a dot.
function lonely(values) {
  const isGap = (value) => value === null || value === undefined;
  return [...values.keys()].filter((at) => !isGap(values[at]) && isGap(values[at - 1]) && isGap(values[at + 1]));
}

function seriesOf(made, curve, place) {
  const line = { label: curve.name, stroke: painted(colourOf(curve)), spanGaps: false,
    value: (plot, _, series, at) => (at === null || at === undefined ? "–" : made.form(made.order[place].values[at])),
    width: curve.is_expected ? 1.3 : 1.8, dash: curve.is_expected ? [5, 4] : undefined,
    points: { show: true, size: 4, fill: painted(colourOf(curve)), filter: (plot, series) => lonely(plot.data[series]) } };
  if (!made.chart.is_stacked || curve.is_expected) return line;
  return { ...line, width: 0, fill: painted(colourOf(curve)), points: { show: false },
    paths: uPlot.paths.bars({ size: [0.8, 40], align: 0 }) };
}

// The end of the upright axis. A first batch that compiles would make all others flat: very high stacks are cut off.
function topOf(chart, high) {
  let top = high || 0;
  if (chart.is_stacked) {
    const sums = chart.batches.map((_, at) => chart.curves.reduce((sum, each) => sum + (each.is_expected ? 0 : each.values[at] || 0), 0));
    const usual = sums.sort((one, other) => one - other)[Math.floor(sums.length * 0.9)] || 0;
    top = Math.min(top, 3 * usual || Infinity);
    top = Math.max(top, ...chart.curves.filter((each) => each.is_expected).map((each) => each.values.at(-1) || 0));
  }
  return Math.max(top, chart.least) * 1.06 || 1;
}

// Batches that another plan began with.
function mark(plot, marks) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = styled("var(--faint)");
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
  for (const batch of marks.filter((each) => each >= plot.scales.x.min && each <= plot.scales.x.max)) {
    const x = plot.valToPos(batch, "x", true);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

const dataOf = (made) => [made.chart.batches, ...drawnValues(made.chart, made.order)];

function batchText(made, at) {
  if (at === null || at === undefined) return "–";
  const when = made.chart.ats[at] ? `, ${format.clock(made.chart.ats[at])}` : "";
  return `${format.count(made.chart.batches[at])}${when}`;
}

// Away from the chart, the names stand beside the last values.
function tellLast(plot) {
  if (plot.cursor.idx === null || plot.cursor.idx === undefined) plot.setLegend({ idx: plot.data[0].length - 1 });
}

function options(made) {
  const axis = { stroke: painted("var(--faint)"), font: "12px system-ui, sans-serif", ticks: { show: false },
    grid: { stroke: painted("var(--line)"), width: 1 } };
  const written = made.form === format.count ? format.figure : made.form;
  const half = made.chart.is_stacked ? 0.5 : 0;
  return {
    width: 320, height: HEIGHT, padding: [8, 10, 0, 0],
    scales: { x: { time: false, range: (plot, low, high) => [low - half, high + half] },
      y: { range: (plot, low, high) => [0, topOf(made.chart, high)] } },
    axes: [
      { ...axis, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000], grid: { show: false }, space: 60, size: 28,
        values: (plot, places) => places.map(format.count) },
      { ...axis, space: 34, values: (plot, places) => places.map(written),
        size: (plot, texts) => 14 + 7 * Math.max(...(texts || [""]).map((text) => text.length)) },
    ],
    series: [{ label: "batch", value: (plot, _, series, at) => batchText(made, at) },
      ...made.order.map((curve, place) => seriesOf(made, curve, place))],
    cursor: { y: false, drag: { x: true, y: false }, sync: { key: "batches", scales: ["x", null] },
      points: { size: 7, stroke: (plot, series) => styled(colourOf(made.order[series - 1])),
        fill: (plot, series) => styled(colourOf(made.order[series - 1])) } },
    legend: { markers: { width: 2, stroke: (plot, series) => (series ? colourOf(made.order[series - 1]) : "transparent"),
      fill: (plot, series) => (series && made.chart.is_stacked && !made.order[series - 1].is_expected
        ? colourOf(made.order[series - 1]) : "transparent"),
      dash: (plot, series) => (series && made.order[series - 1].is_expected ? "dashed" : "solid") } },
    hooks: { draw: [(plot) => mark(plot, made.chart.marks)], setCursor: [tellLast], ready: [tellLast] },
  };
}

function begun(chart, drawing) {
  const made = { chart, drawing, order: drawingOrder(chart), form: format[chart.unit] };
  const holder = element("div", { class: "plot", role: "img", "aria-label": chart.title });
  made.plot = new uPlot(options(made), dataOf(made), holder);
  made.figure = element("figure", { class: chart.is_stacked ? "stacked" : null, "data-chart": chart.name },
    element("h3", {}, chart.title), holder);
  made.figure.plot = made.plot;
  made.watch = new ResizeObserver(() => {
    if (holder.clientWidth) made.plot.setSize({ width: holder.clientWidth, height: HEIGHT });
  });
  made.watch.observe(holder);
  return made;
}

function goOn(made, chart) {
  const { min, max } = made.plot.scales.x;
  const isCloser = min > made.chart.batches[0] || max < made.chart.batches.at(-1);
  Object.assign(made, { chart, order: drawingOrder(chart) });
  made.plot.setData(dataOf(made), !isCloser);
  if (isCloser) made.plot.redraw();
  tellLast(made.plot);
}

// The figures of some charts; those in which nothing is known are left out. `of` says of what they are.
export function curves(charts, of) {
  const figures = charts.filter((chart) => chart.curves.length).map((chart) => {
    const key = `${of} ${chart.name}`;
    const drawing = JSON.stringify([chart.is_stacked, chart.unit, chart.curves.map((each) => [each.name, each.is_expected, each.hue])]);
    if (kept.get(key)?.drawing === drawing) goOn(kept.get(key), chart);
    else kept.set(key, begun(chart, drawing));
    return kept.get(key).figure;
  });
  const isMarked = charts.some((chart) => chart.marks.length);
  return element("div", {}, element("div", { class: "curves" }, figures), element("p", { class: "faint" },
    isMarked ? "Upright lines are batches that another plan began with. " : "",
    figures.length ? "Dashed is what was expected or wanted. Drag over a curve to look closer, click twice to see all." : ""));
}

// Let go of what is no longer on the page.
export function forget() {
  for (const [key, made] of kept) {
    if (made.figure.isConnected) continue;
    made.watch.disconnect();
    made.plot.destroy();
    kept.delete(key);
  }
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const made of kept.values()) made.plot.redraw(false);
});
