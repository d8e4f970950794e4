"""Pictures of plans: SVG and HTML, Mermaid, Graphviz."""
