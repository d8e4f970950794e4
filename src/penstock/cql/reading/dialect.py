"""Our dialect of sqlglot: its tokens, its syntax trees, and where they stand in the text.

All that leans on sqlglot's private parts is here, which is why its version is pinned.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar

from sqlglot import exp
from sqlglot.errors import ErrorLevel, ParseError, TokenError
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token, TokenType
from sqlglot.tokens import Tokenizer

from penstock.cql.reading.text import Span, Text
from penstock.errors import SqlError

__all__ = [
    "NUMBERS_HINT",
    "Token",
    "TokenType",
    "node_span",
    "parse_statement",
    "token_span",
    "tokenize",
    "without_comments",
]

Node = TypeVar("Node", bound=exp.Expr)

_CLOSED = re.compile(
    r"--[^\n]*|/\*.*?\*/|\{#.*?#\}|'(?:[^']|'')*'|“[^”]*”|\"[^\"]*\"|`[^`]*`", re.DOTALL
)
_BLACK = re.compile(r"\S")
_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_CLOSING = {"'": "'", "“": "”", '"': '"', "`": "`", "/*": "*/", "{#": "#}"}
_OPENED = {"'": "text", "“": "text", '"': "quoted name", "`": "quoted name"}
_BRACKETS = "windows stand in brackets: bid [RANGE 10 SECONDS]"
NUMBERS_HINT = "a number is like 10, 2.5 or 1e6"
_WINDOW_WORDS = {"RANGE", "ROWS", "TUMBLE", "WINDOW", "SLIDE"}


def tokenize(text: Text) -> list[Token]:
    """The tokens of a script; comments are left out."""
    try:
        text.content.encode()
    except UnicodeEncodeError as error:
        # No caret: what is not text cannot be shown.
        sign = f"U+{ord(text.content[error.start]):04X}"
        hint = "half of a character, or a byte that was not decoded: read the text as UTF-8"
        raise SqlError(f"the query is not text: {sign} is no character", hint=hint) from None
    try:
        tokens = _Tokenizer().tokenize(without_comments(text.content))
    except TokenError:
        span = _unclosed(text.content)
        sign = text.at(span)
        message = f"this {_OPENED.get(sign, 'comment')} is never closed"
        raise text.error(span, message, f"add the closing {_CLOSING[sign]}") from None
    return [_checked_number(text, token) for token in tokens]


def without_comments(content: str) -> str:
    """The same with blanks for comments: keywords of two words may have one between them."""
    return _CLOSED.sub(
        lambda found: _BLACK.sub(" ", found[0]) if _is_comment(found) else found[0], content
    )


def _is_comment(found: re.Match[str]) -> bool:
    return found[0].startswith(("--", "/*", "{#"))


def _checked_number(text: Text, token: Token) -> Token:
    """The token, if it is no number that there is not."""
    if token.token_type is not TokenType.NUMBER or _NUMBER.fullmatch(token.text):
        return token
    text.note(text.error(token_span(token), f"'{token.text}' is not a number", NUMBERS_HINT))
    return Token(TokenType.NUMBER, "1", token.line, token.col, token.start, token.end)


def parse_statement(text: Text, tokens: Sequence[Token]) -> exp.Expr:
    """The syntax tree of one statement."""
    try:
        (tree,) = _Parser(error_level=ErrorLevel.IMMEDIATE).parse(list(tokens), text.content)
    except _MisfitError as misfit:
        raise text.error(misfit.span, misfit.message(text), misfit.hint) from None
    assert tree is not None, "there was at least one token"
    return tree


def token_span(token: Token) -> Span:
    """Where a token stands."""
    return token.start, token.end + 1


def node_span(node: exp.Expr) -> Span:
    """Where a part of the tree stands: as sqlglot says, else all of its parts together."""
    if "start" in node.meta:
        return node.meta["start"], node.meta["end"] + 1
    spans = [node_span(part) for part in node.walk() if "start" in part.meta]
    if not spans:
        return node_span(node.parent) if node.parent else (0, 1)
    return min(start for start, _ in spans), max(end for _, end in spans)


def _unclosed(content: str) -> Span:
    """Where a quote or comment opens that is not closed, or is closed by the next one's opening."""
    for closed in _CLOSED.finditer(content):
        if closed[0][0] in "'“\"`" and "\n" in closed[0]:
            return closed.start(), closed.start() + 1
    blanked = _CLOSED.sub(lambda match: " " * len(match[0]), content)
    opening = re.search(r"['“\"`]|/\*|\{#", blanked)
    assert opening, "sqlglot's tokenizer stumbles over nothing else"
    return opening.span()


class _MisfitError(ParseError):
    """A token that the grammar has no place for; None is the end of the statement."""

    def __init__(self, complaint: str, token: Token | None, last: Token):
        super().__init__(complaint)
        self.complaint = complaint
        self.token = token
        self.span = token_span(token) if token else (last.end + 1, last.end + 2)
        self.hint = "look for what is missing or too much before it"
        if last.text.upper() in _WINDOW_WORDS:
            self.hint = _BRACKETS
        elif token is not None and token.text.upper() == "EVERY":
            self.hint = "write it EVERY 10 SECONDS, after all else"

    def message(self, text: Text) -> str:
        """The mistake, in our words."""
        found = f"'{text.at(self.span)}'" if self.token else "the end of the statement"
        expected = re.match(r"Expect(?:ed|ing) (.*?)( but got|$)", self.complaint)
        if expected:
            wanted = expected[1].replace("table name", "a stream or table")
            return f"expected {wanted} before {found}"
        return f"{found} does not fit here" if self.token else "the statement ends too early"


class _Tokenizer(Tokenizer):
    # The papers print text in typographic quotes.
    QUOTES: ClassVar[list[str | tuple[str, str]]] = ["'", ("“", "”")]
    SINGLE_TOKENS: ClassVar = Tokenizer.SINGLE_TOKENS | dict.fromkeys("“”", TokenType.UNKNOWN)
    IDENTIFIERS: ClassVar[list[str | tuple[str, str]]] = ['"', "`"]
    NESTED_COMMENTS = False
    # To us /*+ … */ is a comment like any other.
    KEYWORDS: ClassVar = {key: type_ for key, type_ in Tokenizer.KEYWORDS.items() if key != "/*+"}


class _Parser(Parser):
    """sqlglot's parser, but with functions left as they were called and places on all leaves."""

    FUNCTIONS: ClassVar[dict[str, Callable[..., Any]]] = {}
    FUNCTION_PARSERS: ClassVar = {"CAST": Parser.FUNCTION_PARSERS["CAST"]}
    NO_PAREN_FUNCTIONS: ClassVar[dict[TokenType, Any]] = {}
    NO_PAREN_FUNCTION_PARSERS: ClassVar = {"CASE": Parser.NO_PAREN_FUNCTION_PARSERS["CASE"]}

    def raise_error(self, message: str, token: Token | None = None) -> None:
        raise _MisfitError(message, self._curr or None, self._prev)

    def expression(
        self, instance: Node, token: Token | None = None, comments: list[str] | None = None
    ) -> Node:
        is_leaf = next(instance.iter_expressions(), None) is None
        return super().expression(instance, token or (self._prev if is_leaf else None), comments)

    def _parse_types(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        return self._spanned(lambda: super(_Parser, self)._parse_types(*args, **kwargs))

    def _parse_interval(self, *args: Any, **kwargs: Any) -> Any:
        return self._spanned(lambda: super(_Parser, self)._parse_interval(*args, **kwargs))

    def _spanned(self, parse: Callable[[], exp.Expr | None]) -> exp.Expr | None:
        first = self._curr
        node = parse()
        if node is not None and "start" not in node.meta:
            node.meta.update(start=first.start, end=self._prev.end)
        return node
