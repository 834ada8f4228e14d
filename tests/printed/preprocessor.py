"""The few directives that emitted C has, for a compiler that defines what a test names."""

import re
from collections.abc import Iterator, Mapping

_STRING = r'"(?:[^"\\]|\\.)*"'
_COMMENT = re.compile(rf"{_STRING}|/\*.*?\*/", re.DOTALL)
_DIRECTIVE = re.compile(r"\s*#\s*(\w+)\s*(.*)")
_WORD = re.compile(rf"{_STRING}|\b[A-Za-z_]\w*\b")
_DEFINED = re.compile(r"\bdefined\s*\(?\s*(\w+)\s*\)?")


def preprocessed(name: str, files: Mapping[str, str], defined: Mapping[str, str]) -> str:
    """
    Return a file as one text without comments, directives and macros.

    Headers in angle brackets are left out; macros have no parameters.
    """
    macros = dict(defined)
    return "\n".join(_lines(name, files, macros))


def _lines(name: str, files: Mapping[str, str], macros: dict[str, str]) -> Iterator[str]:
    text = _COMMENT.sub(_without_comment, files[name])
    text = text.replace("\\\n", "")
    live = [True]  # of each conditional that is open
    taken = [True]  # whether one of its branches was live
    for line in text.split("\n"):
        found = _DIRECTIVE.fullmatch(line)
        if found is None:
            if all(live):
                yield _expanded(line, macros)
            continue
        word, rest = found.groups()
        if word in ("if", "ifdef", "ifndef"):
            live.append(all(live) and _holds(word, rest, macros))
            taken.append(live[-1])
        elif word in ("elif", "else"):
            outer = all(live[:-1])
            live[-1] = outer and not taken[-1] and (word == "else" or _holds("if", rest, macros))
            taken[-1] = taken[-1] or live[-1]
        elif word == "endif":
            live.pop()
            taken.pop()
        elif all(live):
            if word == "include":
                if rest.startswith('"'):
                    yield from _lines(rest.strip().strip('"'), files, macros)
            elif word == "define":
                macro, _, value = rest.partition(" ")
                assert "(" not in macro, f"a macro with parameters: {line}"
                macros[macro] = value.strip()
            else:
                raise AssertionError(f"a directive that is not known, or an error: {line}")
    assert live == [True], f"{name} leaves a conditional open"


def _without_comment(found: re.Match[str]) -> str:
    """Return a string as it is, and the line ends of a comment."""
    text = found.group()
    return text if text.startswith('"') else " " + "\n" * text.count("\n")


def _expanded(line: str, macros: Mapping[str, str]) -> str:
    """Replace macros recursively."""
    for _ in range(8):
        longer = _WORD.sub(lambda m: macros.get(m.group(), m.group()), line)
        if longer == line:
            return line
        line = longer
    raise AssertionError(f"a macro that stands for itself: {line}")


def _holds(word: str, rest: str, macros: Mapping[str, str]) -> bool:
    if word != "if":
        return (rest.strip() in macros) == (word == "ifdef")
    text = _DEFINED.sub(lambda m: str(int(m.group(1) in macros)), rest)
    text = _expanded(text, macros)
    text = _WORD.sub("0", re.sub(r"\b(0[xX][\da-fA-F]+|\d+)[uUlL]*\b", r"\1", text))
    text = text.replace("&&", " and ").replace("||", " or ")
    return bool(eval(re.sub(r"!(?!=)", " not ", text), {}))
