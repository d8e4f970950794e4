// Elements of the page. Text of the data goes in as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return made;
}

export const element = (tag, attributes = {}, ...children) =>
  filled(document.createElement(tag), attributes, children);

export const drawn = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS(SVG, tag), attributes, children);

// A table by its columns: [heading, is a number]. Columns in which nothing is known are left out.
export function table(columns, rows) {
  const isEmpty = (cell) => cell === null || cell === undefined || cell === "";
  const kept = columns.map((_, place) => rows.some((row) => !isEmpty(row[place])));
  const cells = (row, tag) =>
    row
      .map((cell, place) => [cell, place])
      .filter(([, place]) => kept[place])
      .map(([cell, place]) =>
        element(tag, { class: columns[place][1] ? "number" : null }, isEmpty(cell) ? "" : cell));
  const head = element("thead", {}, element("tr", {}, cells(columns.map(([name]) => name), "th")));
  const body = element("tbody", {}, rows.map((row) => element("tr", {}, cells(row, "td"))));
  return element("div", { class: "wide" }, element("table", {}, head, body));
}

export const tile = (name, value, more = "") =>
  element("div", {}, element("dt", {}, name), element("dd", {}, value),
    more ? element("dd", { class: "more" }, more) : null);

export const tiles = (...made) => element("dl", { class: "tiles" }, made.filter(Boolean));

export const heading = (text) => element("h2", {}, text);
