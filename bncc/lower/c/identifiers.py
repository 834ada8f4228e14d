"""Names from data on their way into C: identifiers, comments and string literals."""

import re
from collections.abc import Iterable

from bncc.errors import OptionError
from bncc.model.ranges import unit_of

_C_WORDS = """
    auto break case char const continue default do double else enum extern float for goto
    if inline int long register restrict return short signed sizeof static struct switch typedef
    union unsigned void volatile while alignas alignof bool constexpr false nullptr static_assert
    thread_local true typeof typeof_unqual"""
_CPP_WORDS = """
    and and_eq asm atomic_cancel atomic_commit atomic_noexcept bitand bitor catch char8_t
    char16_t char32_t class co_await co_return co_yield compl concept consteval constinit
    const_cast decltype delete dynamic_cast explicit export final friend import module mutable
    namespace new noexcept not not_eq operator or or_eq override private protected public reflexpr
    reinterpret_cast requires static_cast synchronized template this throw transaction_safe
    try typeid typename using virtual wchar_t xor xor_eq"""
_PREDEFINED_WORDS = """
    linux unix i386 arm mips sun vax hpux near far interrupt asm main
    complex errno imaginary noreturn stderr stdin stdout"""
"""Lower-case words that are macros of compilers or standard headers, or keywords of some."""
_HEADERS = """
    arduino assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal
    stdalign stdarg stdatomic stdbit stdbool stdckdint stddef stdint stdio stdlib stdnoreturn string
    tgmath threads time uchar wchar wctype"""
"""Headers that one of the same name would hide from every file of a program."""

RESERVED = frozenset(f"{_C_WORDS} {_CPP_WORDS} {_PREDEFINED_WORDS}".split())
"""Words that no symbol of the emitted C may be."""

HEADERS = frozenset(_HEADERS.split())
"""Names that no emitted header may have."""

MAX_NAME = 31
"""Significant characters in every C99 compiler; the limit also keeps lines readable."""

_HARMLESS = frozenset(
    b" !#$%&'()*+,-./:;<=>@[]^_`{|}~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)
"""Bytes that stand for themselves in a C string."""


def check_name(name: str) -> str:
    """Return a model's name if it can prefix C symbols and file names."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise OptionError(
            f"{name!r} cannot prefix C symbols; use letters, digits and underscores, a letter first"
        )
    if name.lower() in RESERVED:
        raise OptionError(f"'{name}' is a reserved word of C or C++; choose another name")
    if name.lower() in HEADERS:
        raise OptionError(f"'{name}.h' would hide a header of that name; choose another name")
    if len(name) > MAX_NAME:
        raise OptionError(f"'{name}' is longer than {MAX_NAME} characters; choose a shorter name")
    return name


def model_name(text: str) -> str:
    """Turn any text, for instance a file's stem, into a name that `check_name` accepts."""
    name = _identifier(text)[:MAX_NAME].rstrip("_") or "model"
    return f"{name}_model" if name in RESERVED | HEADERS else name


def field_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return distinct struct member names for columns of any name."""
    taken: set[str] = set()
    fields = []
    for name in names:
        base = _identifier(name)[:60] or "field"
        if base in RESERVED or base.endswith("_t"):
            base += "_"
        field, number = base, 2
        while field in taken:
            field, number = f"{base}_{number}", number + 1
        taken.add(field)
        fields.append(field)
    return tuple(fields)


def constant_names(
    labels: Iterable[str], taken: Iterable[str] = (), longest: int = 60
) -> tuple[str, ...]:
    """Return distinct ends of macros for labels of any text."""
    used = set(taken)
    last_number: dict[str, int] = {}
    names = []
    for label in labels:
        base = constant_name(label)[:longest]
        name, number = base, last_number.get(base, 1)
        while name in used:
            number += 1
            name = f"{base[: longest - len(str(number)) - 1]}_{number}"
        last_number[base] = number
        used.add(name)
        names.append(name)
    return tuple(names)


def constant_name(text: str) -> str:
    """Return a text in upper-case letters, digits and underscores."""
    return re.sub(r"[^A-Z0-9]+", "_", text.upper()).strip("_") or "UNNAMED"


def _identifier(text: str) -> str:
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    return f"f_{name}" if name[:1].isdigit() else name


def c_comment(text: str) -> str:
    """Return text that cannot end a C comment, break a line or leave ASCII."""
    safe = re.sub(r"[^\x20-\x7e]|\\", "?", text).replace("*", "'")
    safe = re.sub(r"\?\?+", "?", safe) if safe.strip() else "(blank)"
    return safe if len(safe) <= 60 else f"{safe[:57]}..."


def titled(name: str, unit: str) -> str:
    """Return a feature's name for a comment, with its unit where the name does not end with it."""
    text = c_comment(name)
    return text if not unit or unit_of(name) == unit else f"{text} in {c_unit(unit)}"


def c_unit(unit: str) -> str:
    """Return a unit for a comment, its usual signs spelled in ASCII."""
    return c_comment("".join(_SIGNS.get(sign, sign) for sign in unit))


_SIGNS = {
    "\u00b0": "deg", "\u00b5": "u", "\u03bc": "u", "\u03a9": "ohm", "\u2126": "ohm",
    "\u00b2": "^2", "\u00b3": "^3", "\u00b7": " ", "\u22c5": " ", "\u2030": "permille",
}  # fmt: skip


def c_string(text: str) -> str:
    """Return a C string literal of the text's UTF-8 bytes."""
    return '"' + re.sub(r"(\\[0-7]{3})(?!\\|$)", r'\1" "', "".join(_escaped(text))) + '"'


def c_characters(text: str) -> list[str]:
    """Return a C character constant, with a comma behind it, for each of the text's UTF-8 bytes."""
    return [r"'\047'," if c == "'" else f"'{c}'," for c in _escaped(text)]


def _escaped(text: str) -> list[str]:
    encoded = text.encode("utf-8", errors="replace")
    return [chr(b) if b in _HARMLESS else f"\\{b:03o}" for b in encoded]
