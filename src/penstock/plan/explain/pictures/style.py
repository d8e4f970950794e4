"""The look of the pictures and of the HTML page, light or dark as the reader's system is."""

INKS = """\
:root { color-scheme: light dark; --paper: #fbfbf9; --ink: #1c2127; --faint: #69707a;
  --line: #dcdfe3; --card: #ffffff; --fill: 94%; --glow: 62%; --stroke: 45%; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14171b; --ink: #e4e7eb; --faint: #98a1ac; --line: #323840;
    --card: #1b1f24; --fill: 17%; --glow: 32%; --stroke: 62%; }
}
"""
"""The colours, for either."""

BOXES = """\
svg text { font-size: 12px; fill: var(--faint); }
svg .name { font-size: 14px; font-weight: 600; fill: var(--ink); }
.box rect { fill: hsl(var(--hue) var(--glow) var(--fill));
  stroke: hsl(var(--hue) 48% var(--stroke)); stroke-width: 1.2; }
.box.source rect { stroke-width: 2.2; }
.box.table rect { stroke-dasharray: 5 4; }
.box.join rect { fill: var(--paper); stroke: var(--faint); }
.box.view rect { fill: var(--paper); stroke: var(--ink); stroke-width: 1.6;
  stroke-dasharray: 2 3; }
.box.results rect { fill: none; stroke: var(--ink); stroke-width: 1.6; }
.flow { fill: none; stroke: var(--faint); stroke-width: 1.5; }
marker path { fill: var(--faint); }
"""
"""Boxes, arrows and their texts."""

_TEXT = """\
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 40px 28px 72px; }
.kind { margin: 0; color: var(--faint); font-size: 12px; letter-spacing: .09em;
  text-transform: uppercase; }
h1 { margin: 2px 0 4px; font-size: 28px; line-height: 1.2; letter-spacing: -.01em;
  overflow-wrap: anywhere; }
h2 { margin: 36px 0 10px; font-size: 16px; }
header { margin-bottom: 22px; }
header p { margin: 0; color: var(--faint); }
code, pre, svg text { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
code { font-size: 13px; overflow-wrap: anywhere; }
p, li { overflow-wrap: anywhere; }
pre { margin: 0; padding: 16px 18px; white-space: pre-wrap; overflow-wrap: anywhere;
  font-size: 13px; line-height: 1.5;
  background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
figure { margin: 26px 0 0; padding: 20px; background: var(--card);
  border: 1px solid var(--line); border-radius: 14px; }
figcaption { margin-top: 14px; color: var(--faint); font-size: 13px; }
svg { display: block; width: 100%; height: auto; margin: 0 auto; }
.on-narrow { display: none; }
"""

_TABLES = """\
.wide { border: 1px solid var(--line); border-radius: 10px;
  background: var(--card); }
table { width: 100%; border-collapse: collapse; font-size: 14px; }
th, td { padding: 8px 14px; text-align: left; vertical-align: top; }
.name, .dot { overflow-wrap: anywhere; }
th { color: var(--faint); font-size: 12px; font-weight: 500; white-space: nowrap; }
tbody tr { border-top: 1px solid var(--line); }
tbody tr.plan { border-top: 0; }
tr.plan td { padding-top: 0; }
td b { font-weight: 600; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.dot::before { content: ""; display: inline-block; width: 9px; height: 9px; margin-right: 8px;
  border-radius: 50%; background: hsl(var(--hue) 48% var(--stroke)); }
.tiles { display: flex; flex-wrap: wrap; gap: 12px; margin: 22px 0 12px; }
.tiles div { flex: 1 1 160px; padding: 12px 18px; background: var(--card);
  border: 1px solid var(--line); border-radius: 10px; }
dt { color: var(--faint); font-size: 12px; }
dd { margin: 0; font-size: 20px; font-weight: 600; font-variant-numeric: tabular-nums; }
dd.more { color: var(--faint); font-size: 12px; font-weight: 400; }
.why, .short { margin: 4px 2px; }
.why { color: var(--faint); }
.short b, .why b { display: inline-block; min-width: 54px; }
.short { color: hsl(5 65% var(--stroke)); }
ul { margin: 0; padding-left: 20px; }
@media (max-width: 760px) {
  main { padding: 24px 14px 48px; }
  figure { padding: 12px 8px; }
  .on-wide { display: none; }
  .on-narrow { display: block; }
  thead { display: none; }
  table, tbody, tr, td { display: block; }
  tbody tr { padding: 8px 14px; }
  tbody tr:first-child { border-top: 0; }
  td { display: flex; gap: 12px; justify-content: space-between; padding: 2px 0;
    text-align: right; overflow-wrap: anywhere; white-space: normal; }
  td::before { content: attr(data-name); flex: none; color: var(--faint); font-size: 12px; }
  tr.plan { padding-top: 0; }
  tr.plan td { justify-content: flex-start; text-align: left; }
}
@media print { main { padding: 0; } figure, pre, .wide { break-inside: avoid; } }
"""

STYLE = INKS + _TEXT + BOXES + _TABLES
"""That of the page."""
