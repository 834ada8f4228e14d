"""Words, lists and numbers in the text of a BIF file, and the line where one is wrong."""

import re
from dataclasses import dataclass
from typing import NoReturn

from bncc.errors import NetworkError

_SPACE = re.compile(r"\s*")
_STRING = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL)
_ESCAPE = re.compile(r"\\([\"\\])")
_RAW = re.compile(r"[^,;(){}\[\]|\"]+")
_WORD = re.compile(r"[A-Za-z_]+")
_UNQUOTED = re.compile(r'[^";]*')
_NUMBERS = re.compile(r"[^;(){}\[\]|\"]*")
_MARK = re.compile(r'"|(?<![^\s,;(){}\[\]|"])/[/*]')
_MOST = 1.01
"""Largest probability to accept: files carry rounded numbers."""
_DIGITS = 9
"""Digits of a number of states; more states than any memory holds."""


@dataclass(frozen=True)
class Item:
    """A name in a list."""

    text: str  # Without its quotes; words are separated by one space
    is_quoted: bool  # True if it was in quotes, so that it is one name whatever it holds


class Scanner:
    """A text, and how far it is read."""

    def __init__(self, text: str, name: str) -> None:
        self._text = _without_comments(text) if "//" in text or "/*" in text else text
        self._name = name
        self._open = len(self._text)
        self.position = 0

    def fail(self, what: str, position: int | None = None) -> NoReturn:
        """Raise a `NetworkError` that says what is wrong at a line."""
        at = self.position if position is None else position
        at += len(self._text[at:]) - len(self._text[at:].lstrip())
        line = self._text.count("\n", 0, at) + 1
        raise NetworkError(f"'{self._name}', line {line}: {' '.join(what.split())}")

    def peek(self) -> str:
        """Return the next character that is no space; "" at the end."""
        match = _SPACE.match(self._text, self.position)
        self.position = match.end() if match else self.position
        return self._text[self.position : self.position + 1]

    def accept(self, mark: str) -> bool:
        """Pass over a character if it comes next, and return whether it did."""
        found = self.peek() == mark
        self.position += found
        return found

    def expect(self, mark: str) -> None:
        """Pass over a character that must come next."""
        if not self.accept(mark):
            self._fail_here(f"'{mark}'")

    def word(self) -> str:
        """Return the keyword that comes next; "" if there is none."""
        self.peek()
        match = _WORD.match(self._text, self.position)
        self.position = match.end() if match else self.position
        return match.group() if match else ""

    def skip_statement(self) -> None:
        """Pass over everything up to the next semicolon outside quotes."""
        end = self._end_of_statement() or self._text.find(";", self.position) + 1
        if not end:
            self.fail("';' is missing until the file's end; get the whole file")
        self.position = end

    def _end_of_statement(self) -> int:
        """Return where the statement ends; 0 where a quote in it is never closed, or it."""
        at = self.position
        while True:
            match = _UNQUOTED.match(self._text, at)
            at = match.end() if match else at
            if self._text[at : at + 1] != '"':
                return at + 1 if at < len(self._text) else 0
            # No quote behind one that is never closed is closed either.
            string = _STRING.match(self._text, at) if at < self._open else None
            if string is None:
                self._open = min(self._open, at)
                return 0
            at = string.end()

    def items(self, *closing: str) -> list[Item]:
        """Return the names up to one of some characters, which is not passed over."""
        found = []
        while (mark := self.peek()) not in closing:
            if mark == '"':
                found.append(Item(self._string(), True))
            elif match := _RAW.match(self._text, self.position):
                self.position = match.end()
                found.append(Item(" ".join(match.group().split()), False))
            else:
                self._fail_here(f"a name or '{closing[0]}'")
            self.accept(",")
        return found

    def name(self, closing: str) -> str:
        """Return the one name before a character, and skip that character."""
        start = self.position
        items = self.items(closing)
        if len(items) != 1:
            self.fail(f"one name must stand before '{closing}', not {len(items)}", start)
        self.expect(closing)
        return items[0].text

    def count(self, closing: str) -> int:
        """Return the whole number before a character, and skip that character."""
        start = self.position
        text = self.name(closing)
        if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS):
            self.fail(f"'{text}' is no number of states; write a whole one", start)
        return int(text)

    def numbers(self) -> list[float]:
        """Return the probabilities up to the next semicolon, which is passed over."""
        match = _NUMBERS.match(self._text, self.position)
        words = match.group().replace(",", " ").split() if match else []
        try:
            values = list(map(float, words))
        except ValueError:
            values = []
        is_wrong = len(values) < len(words) or not all(0 <= v <= _MOST for v in values)
        if is_wrong or "_" in self._text[self.position : match.end() if match else 0]:
            wrong = next(word for word in words if not _is_probability(word))
            place = self._text.index(wrong, self.position)
            self.fail(f"'{wrong[:40]}' is no probability; write a number from 0 to 1", place)
        self.position = match.end() if match else self.position
        self.expect(";")
        return values

    def _string(self) -> str:
        match = _STRING.match(self._text, self.position)
        if match is None:
            self.fail("a quote is opened and never closed; close it")
        self.position = match.end()
        return _ESCAPE.sub(r"\1", match.group(1))

    def _fail_here(self, wanted: str) -> NoReturn:
        mark = self.peek()
        if not mark:
            self.fail(f"the file ends where {wanted} must stand; get the whole file")
        self.fail(f"{mark!r} stands where {wanted} must; write BIF")


def _is_probability(word: str) -> bool:
    try:
        value = float(word)
    except ValueError:
        return False
    return 0 <= value <= _MOST and "_" not in word


def _without_comments(text: str) -> str:
    """
    Return spaces in place of comments, so that lines and positions stay.

    Where a quote or a comment is never closed, none behind it is: it is looked for once.
    """
    parts, done, position, is_open = [], 0, 0, False
    last = text.rfind("*/")
    while match := _MARK.search(text, position):
        start, position = match.span()
        if match.group() == '"':
            string = None if is_open else _STRING.match(text, start)
            is_open = string is None
            position = string.end() if string else position
            continue
        if match.group() == "//":
            end = text.find("\n", position)
            end = len(text) if end < 0 else end
        elif last >= position:
            end = text.index("*/", position) + 2
        else:
            continue
        parts += [text[done:start], re.sub(r"[^\n]", " ", text[start:end])]
        done = position = end
    return "".join([*parts, text[done:]])
