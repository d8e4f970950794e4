// Small pictures inside of tables and tiles: the course of a figure, and a part of a whole.

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

export const hue = (place) => [212, 28, 160, 330, 265, 48, 190, 5][place % 8];

export function share(part, isLive = true) {
  const inside = element("div");
  inside.style.width = `${Math.min(100, Math.max(0, (part || 0) * 100))}%`;
  return element("div", { class: isLive && part > 0.98 ? "bar full" : "bar" }, inside);
}
