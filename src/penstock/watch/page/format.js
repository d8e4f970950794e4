// Numbers, times and shares as people read them. What is not known is a dash.

const NONE = "–";

export function number(value) {
  if (value === null || value === undefined) return NONE;
  const size = Math.abs(value);
  if (size >= 1e12 || (size > 0 && size < 0.001)) return value.toPrecision(3);
  const digits = size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return value.toLocaleString("en-US", { maximumFractionDigits: digits });
}

export const rate = (value) => (value === null || value === undefined ? NONE : `${number(value)}/s`);

// What is added makes a zero of a negative one, which would be shown as -0.
export const percent = (part) =>
  part === null || part === undefined ? NONE : `${number(Math.round(part * 1000) / 10 + 0)} %`;

// What another plan takes beside the running one, of whose work it would save a part.
export function moreWork(saves) {
  if (saves === null || saves === undefined) return NONE;
  return percent(saves) === percent(0) ? "takes as much work" : `takes ${percent(-saves)} more work`;
}

export function seconds(value) {
  if (value === null || value === undefined) return NONE;
  if (Math.abs(value) >= 120) return `${number(value / 60)} min`;
  return Math.abs(value) >= 1 || value === 0 ? `${number(value)} s` : `${number(value * 1000)} ms`;
}

export function bytes(size) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let place = 0;
  while (size >= 1024 && place < units.length - 1) { size /= 1024; place += 1; }
  return `${number(size)} ${units[place]}`;
}

export const clock = (at) => (at ? new Date(at * 1000).toLocaleTimeString() : NONE);

export const both = (measured, estimated, form = number) => `${form(measured)} | ${form(estimated)}`;
