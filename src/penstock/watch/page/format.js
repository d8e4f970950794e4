// Figures as people read them, by the rules of plan/explain/quantity.py. What is not known is a dash.

const NONE = "–";
const isMissing = (value) => value === null || value === undefined;
const rounded = (value) => Number(value.toPrecision(3));
const SCALES = [[1e12, "T"], [1e9, "G"], [1e6, "M"]];
// From how many seconds on a time is told in a unit, and its seconds.
const TIMES = [[172800, 86400, "d"], [7200, 3600, "h"], [120, 60, "min"], [0.1, 1, "s"], [1e-4, 1e-3, "ms"],
  [1e-7, 1e-6, "µs"], [0, 1e-9, "ns"]];
const BYTES = [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]];

// What was measured: three digits. What is added makes a zero of a negative one.
export function figure(value) {
  if (isMissing(value)) return NONE;
  const short = rounded(value) + 0;
  const size = Math.abs(short);
  if (size >= 1e15 || (size > 0 && size < 1e-4)) return short.toExponential();
  if (size >= 1e7) {
    const [scale, sign] = SCALES.find(([least]) => size >= least);
    return `${rounded(short / scale)}${sign}`;
  }
  return short.toLocaleString("en-US", { maximumFractionDigits: 6 });
}

// What was counted: all digits.
export const count = (value) => (isMissing(value) ? NONE : Math.round(value).toLocaleString("en-US"));

export const rate = (value) => (isMissing(value) ? NONE : `${figure(value)}/s`);

export const percent = (part) => (isMissing(part) ? NONE : `${figure(100 * part)} %`);

export function seconds(value) {
  if (isMissing(value) || value === 0) return value === 0 ? "0 s" : NONE;
  const short = Math.abs(rounded(value));
  const [, size, unit] = TIMES.find(([least]) => short >= least);
  return `${figure(value / size)} ${unit}`;
}

export function bytes(value) {
  const short = Math.abs(rounded(value));
  const [size, unit] = BYTES.find(([least]) => short >= least) || BYTES.at(-1);
  return `${figure(value / size)} ${unit}`;
}

// A time of the clock to the second, UTC, as the command line and reports write it.
export const clock = (at) => (at ? new Date(at * 1000).toISOString().slice(0, 19).replace("T", " ") : NONE);

// What another plan takes beside the running one, of whose work it would save a part.
export function moreWork(saves) {
  if (isMissing(saves)) return NONE;
  return Math.abs(saves) < 0.0005 ? "takes as much work" : `takes ${percent(-saves)} more work`;
}

export const both = (measured, estimated, form = figure) => `${form(measured)} | ${form(estimated)}`;
