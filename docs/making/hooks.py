"""What MkDocs asks for while it builds the site: pages made from code, pages from elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from command_page import command_page
from json_page import json_page
from name_page import name_page
from report_page import report_page
from site_text import BROUGHT, ROOT, heading_anchor, site_text
from stats_page import stats_page

MADE: Mapping[str, Callable[[], str]] = {
    "reference/commands.md": command_page,
    "reference/names.md": name_page,
    "reference/stats-file.md": stats_page,
    "reference/reports.md": report_page,
    "reference/explain-json.md": json_page,
}
"""The pages that are made from code, by their places in the site."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Headings are linked to as the repository's pages do."""
    config.mdx_configs.setdefault("toc", {})["slugify"] = heading_anchor
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is not in the folder of the documentation."""
    for uri, make in MADE.items():
        files.append(File.generated(config, uri, content=make()))
    for uri, source in BROUGHT.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, uri, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """A page as the site needs it."""
    return site_text(markdown, page.file.src_uri)
