"""Charts drawn with matplotlib, as SVG for light and dark pages and as PNG."""
