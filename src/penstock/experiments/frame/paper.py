"""The papers that experiments re-run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """A paper by the key that names of experiments begin with, and the short name of the docs."""

    key: str
    short: str
    title: str
    authors: str
    venue: str


VN = Paper(
    "vn",
    "V&N",
    "Rate-Based Query Optimization for Streaming Information Sources",
    "Stratis D. Viglas, Jeffrey F. Naughton",
    "SIGMOD 2002",
)
AN = Paper(
    "an",
    "A&N",
    "Static Optimization of Conjunctive Queries with Sliding Windows Over Infinite Streams",
    "Ahmed M. Ayad, Jeffrey F. Naughton",
    "SIGMOD 2004",
)
TL = Paper(
    "tl",
    "T&L",
    "Transformation of Continuous Aggregation Join Queries over Data Streams",
    "Tri Minh Tran, Byung Suk Lee",
    "SSTD 2007",
)
QM = Paper(
    "qm",
    "QM",
    "Multi-route query processing and optimization",
    "Rimma V. Nehme, Karen Works, Chuan Lei, Elke A. Rundensteiner, Elisa Bertino",
    "Journal of Computer and System Sciences, 2013",
)
GO = Paper(
    "go",
    "G&O",
    "Processing Sliding Window Multi-Joins in Continuous Queries over Data Streams",
    "Lukasz Golab, M. Tamer Özsu",
    "VLDB 2003",
)
BEYOND = Paper("beyond", "Beyond", "Beyond the papers", "", "")

PAPERS = (VN, AN, TL, QM, GO, BEYOND)
"""All of them, in the order of the page."""
