"""Reading tokens one after another, for the parts of the language that are ours alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from penstock.cql.reading.dialect import Token, TokenType, token_span
from penstock.cql.reading.text import Span, Text
from penstock.errors import SqlError
from penstock.slips import meant

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

    def take_slip(self, words: Iterable[str], what: str) -> str | None:
        """The keyword that stands next, misspelt, if one does: a mistake, where `what` is expected.

        Keywords of two words are two tokens if the first of them is misspelt.
        """
        wanted = tuple(words)
        for count in (1, 2):
            tokens = [token for token in self.rest[:count] if _is_name(token)]
            word = meant(" ".join(token.text for token in tokens), wanted)
            if word is not None:
                span = (tokens[0].start, tokens[-1].end + 1)
                message = f"expected {what} here, not '{self.text.at(span)}'"
                self.text.note(self.text.error(span, message, f"did you mean {word}?"))
                self._index += len(tokens)
                return word
        return None

    def expect(self, word: str, hint: str) -> None:
        """Takes the next token, which must be this keyword or sign."""
        if not self.take_word(word) and not self.take_slip([word], word):
            raise self.expected(word, hint)

    def takes_another(self, hint: str) -> bool:
        """Takes what follows in a list: a comma before one more, or the closing parenthesis."""
        if self.take_word(","):
            return True
        if not self.take_word(")"):
            raise self.expected(", or )", hint)
        return False

    def skip_item(self) -> tuple[list[Token], bool]:
        """Passes over the rest of what is wrong in a list, and takes what follows, as above."""
        skipped: list[Token] = []
        depth = 0
        while self.next and not (depth == 0 and is_word(self.next, "WITH")):
            token = self.take()
            if depth == 0 and (is_word(token, ",") or is_word(token, ")")):
                return skipped, is_word(token, ",")
            depth += is_word(token, "(") - is_word(token, ")")
            skipped.append(token)
        return skipped, False

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
