"""The look of the report's page, beside that of explain's."""

LOOK = """\
h3 { margin: 0 0 8px; font-size: 14px; }
.curves { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr));
  gap: 16px; }
.curves figure { margin: 0; }
.scroll { overflow-x: auto; }
.scroll svg { min-width: 560px; margin: 0; }
svg .grid { stroke: var(--line); stroke-width: 1; }
svg .mark { stroke: var(--ink); stroke-width: 1; stroke-dasharray: 2 3; }
svg .curve { fill: none; stroke: hsl(var(--hue) 60% var(--stroke)); stroke-width: 1.6; }
svg .curve.expected { stroke-dasharray: 5 4; stroke-width: 1.2; }
svg .dotted { fill: hsl(var(--hue) 60% var(--stroke)); }
svg .ring { fill: none; stroke: hsl(5 70% var(--stroke)); stroke-width: 1.6; }
svg .flow.off { stroke: hsl(5 70% var(--stroke)); }
svg .flow { opacity: .7; }
.key { margin-right: 14px; overflow-wrap: anywhere; }
.key::before { content: ""; display: inline-block; width: 16px; margin-right: 6px;
  vertical-align: middle; border-top: 2px solid hsl(var(--hue) 60% var(--stroke)); }
.key.expected::before { border-top-style: dashed; }
figure + pre { margin-top: 14px; }
td { white-space: pre-wrap; }
"""
