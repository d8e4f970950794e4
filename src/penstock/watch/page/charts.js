// Curves and bars as SVG, small enough to be drawn anew with every batch.

import { drawn, element } from "./dom.js";

const known = (values) => values.filter((value) => value !== null && value !== undefined);

function path(values, width, height, top, pad = 2) {
  const step = values.length > 1 ? (width - 2 * pad) / (values.length - 1) : 0;
  let text = "";
  let isDown = false;
  values.forEach((value, place) => {
    if (value === null || value === undefined) { isDown = false; return; }
    const x = (pad + place * step).toFixed(1);
    const y = (height - pad - (height - 2 * pad) * (top > 0 ? Math.max(0, value) / top : 0)).toFixed(1);
    text += `${isDown ? "L" : "M"}${x} ${y}`;
    isDown = true;
  });
  return text;
}

export function spark(values, ruler = null) {
  const top = Math.max(...known([...values, ruler]), 0);
  const svg = drawn("svg", { viewBox: "0 0 130 26", class: "spark", role: "img", "aria-label": "history" });
  if (ruler !== null && ruler !== undefined && top > 0) {
    const y = 24 - (22 * ruler) / top;
    svg.append(drawn("path", { class: "ruler", d: `M0 ${y}H130` }));
  }
  svg.append(drawn("path", { class: "curve", d: path(values, 130, 26, top) }));
  return svg;
}

// Curves over each other: [{name, values}], with a line at `ruler`.
export function curves(series, { ruler = null, label = "", form = String } = {}) {
  const top = Math.max(...known([...series.flatMap((each) => each.values), ruler]), 0);
  const svg = drawn("svg", { viewBox: "0 0 800 160", role: "img", "aria-label": label });
  svg.append(drawn("path", { class: "axis", d: "M0 158H800" }));
  if (ruler !== null && top > 0) {
    svg.append(drawn("path", { class: "ruler", d: `M0 ${158 - (156 * ruler) / top}H800` }));
  }
  series.forEach((each, place) => {
    svg.append(drawn("path", { class: place ? "curve second" : "curve", d: path(each.values, 800, 160, top) }));
  });
  svg.append(drawn("text", { x: 4, y: 12 }, form(top)));
  const names = series.map((each) => each.name).join(", ");
  return element("figure", {}, svg, element("figcaption", {}, label || names));
}

export const hue = (place) => [212, 28, 160, 330, 265, 48, 190, 5][place % 8];

// Stacked bars, one a batch: rows of numbers by the names of layers.
export function stacks(layers, bars, { ruler = null, form = String, titles = [] } = {}) {
  const sums = bars.map((bar) => bar.reduce((sum, each) => sum + (each || 0), 0));
  // A first batch that compiles would make all others flat: very high bars are cut off.
  const usual = [...sums].sort((one, other) => one - other)[Math.floor(sums.length * 0.9)] || 0;
  const top = Math.max(Math.min(Math.max(...sums, 0), 3 * usual || Infinity), ruler || 0, 1e-9);
  const width = 800 / Math.max(bars.length, 1);
  const svg = drawn("svg", { viewBox: "0 0 800 220", role: "img", "aria-label": "seconds by phase" });
  bars.forEach((bar, place) => {
    let y = 218;
    const group = drawn("g", {}, drawn("title", {}, titles[place] || ""));
    bar.forEach((part, layer) => {
      const height = Math.min(((part || 0) / top) * 200, y - 18);
      if (height <= 0) return;
      y -= height;
      group.append(drawn("rect", { x: place * width + width * 0.1, y, width: width * 0.8, height,
        fill: `hsl(${hue(layer)} 55% 52%)` }));
    });
    svg.append(group);
  });
  if (ruler) svg.append(drawn("path", { class: "ruler", d: `M0 ${218 - (200 * ruler) / top}H800` }));
  svg.append(drawn("text", { x: 4, y: 12 }, form(top)));
  const legend = layers.map((name, layer) => {
    const swatch = element("span", { class: "swatch" });
    swatch.style.background = `hsl(${hue(layer)} 55% 52%)`;
    return element("span", {}, swatch, name);
  });
  return element("figure", {}, svg, element("div", { class: "legend" }, legend));
}

export function share(part, isLive = true) {
  const inside = element("div");
  inside.style.width = `${Math.min(100, Math.max(0, (part || 0) * 100))}%`;
  return element("div", { class: isLive && part > 0.98 ? "bar full" : "bar" }, inside);
}
