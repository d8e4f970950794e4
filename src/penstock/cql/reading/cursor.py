"""Reading tokens one after another, for the parts of the language that are ours alone."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.cql.reading.dialect import Token, TokenType, token_span
from penstock.cql.reading.text import Span, Text
from penstock.errors import SqlError

_NOT_WORDS = (TokenType.STRING, TokenType.IDENTIFIER)


class Cursor:
    """A place in a row of tokens. `end` is what stands after the last of them."""

    def __init__(self, text: Text, tokens: Sequence[Token], end: Span):
        self.text = text
        self._tokens = tokens
        self._index = 0
        self._end = end

    @property
    def next(self) -> Token | None:
        """The token to be taken next; None at the end."""
        return self._tokens[self._index] if self._index < len(self._tokens) else None

    @property
    def rest(self) -> Sequence[Token]:
        """The tokens that are not taken yet."""
        return self._tokens[self._index :]

    @property
    def span(self) -> Span:
        """Where the next token stands."""
        return token_span(self.next) if self.next else self._end

    @property
    def taken_to(self) -> int:
        """Where the last token that was taken ends."""
        return int(self._tokens[self._index - 1].end) + 1

    def take(self) -> Token:
        """The next token, which there must be."""
        token = self._tokens[self._index]
        self._index += 1
        return token

    def take_word(self, word: str) -> Token | None:
        """The next token if it is this keyword or sign."""
        return self.take() if self.next and is_word(self.next, word) else None

    def take_type(self, *types: TokenType) -> Token | None:
        """The next token if it is of one of these types."""
        return self.take() if self.next and self.next.token_type in types else None

    def take_name(self, what: str, hint: str | None = None) -> Token:
        """The next token, which must be able to name something."""
        token = self.next
        if token is None or not _is_name(token):
            raise self.expected(what, hint)
        return self.take()

    def expect(self, word: str, hint: str) -> None:
        """Takes the next token, which must be this keyword or sign."""
        if not self.take_word(word):
            raise self.expected(word, hint)

    def takes_another(self, hint: str) -> bool:
        """Takes what follows in a list: a comma before one more, or the closing parenthesis."""
        if self.take_word(","):
            return True
        if not self.take_word(")"):
            raise self.expected(", or )", hint)
        return False

    def expect_end(self, hint: str) -> None:
        """Nothing, if all tokens are taken."""
        if self.next:
            raise self.text.error(self.span, f"'{self.text.at(self.span)}' does not fit here", hint)

    def expected(self, what: str, hint: str | None = None) -> SqlError:
        """An error at the next token."""
        found = f", not '{self.text.at(self.span)}'" if self.next else ""
        return self.text.error(self.span, f"expected {what} here{found}", hint)


def is_word(token: Token, word: str) -> bool:
    """Whether a token is this keyword or sign, in any case and spacing, and not in quotes."""
    return token.token_type not in _NOT_WORDS and " ".join(token.text.upper().split()) == word


def _is_name(token: Token) -> bool:
    if token.token_type is TokenType.IDENTIFIER:
        return True
    return token.token_type is not TokenType.STRING and token.text.isidentifier()
