"""
Numbers in the lanes of a word that are subtracted all at once, as compilers do for bytes in a loop.

With the highest bit of each lane in H, a lane of ``((x | H) - (y & ~H)) ^ ((x ^ ~y) & H)`` is that
of x less that of y, modulo 2^n, for all words x and y. In each lane, ``x | H`` is no less than
``y & ~H``, so that none borrows from the next one. The lowest n - 1 bits of such a difference are
right, and the highest one is 1 unless they borrow. The last operand corrects it: x less y has the
exclusive or of the borrow and the highest bits of both there.

Each operation but the subtraction keeps some bits of words and inverts some. A `Mixed` is what they
make: an exclusive or of masked words and a constant, in whatever order a compiler combines them. So
is the difference, since by the above it is ``lanes ^ ((x ^ ~y) & H)``.

Compilers also add the highest bit of a word by inverting it after a shift. A sum that may be
negative is one that is not, with that bit inverted, and both can be shifted.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from bncc.prove.values import MASK, Exact, UndecidedError, Value

Lane: TypeAlias = tuple[Value, int]
"""A number, and how many of its lowest bits a lane has."""
Field: TypeAlias = Callable[[Value, Value, int, int], Value]
"""Returns n bits of one word from bit k on less those of another, modulo 2^n."""
TOPS = {0x80808080: 8, 0x80008000: 16}
"""Bits of a lane, by the highest bits of all."""
_MASKS = frozenset(TOPS) | frozenset(MASK ^ top for top in TOPS)


@dataclass(frozen=True)
class Mixed:
    """An exclusive or of a constant and of words of which a mask keeps some bits."""

    masks: Mapping[object, int]  # By what identifies a word; none is 0
    const: int

    def masked(self, kept: int) -> "Mixed":
        """Return some bits of it."""
        masks = {key: mask & kept for key, mask in self.masks.items()}
        return Mixed({key: mask for key, mask in masks.items() if mask}, self.const & kept)

    def xor(self, other: "Mixed") -> "Mixed":
        """Return the exclusive or with another one."""
        masks = dict(self.masks)
        for key, mask in other.masks.items():
            masks[key] = masks.get(key, 0) ^ mask
        return Mixed({key: mask for key, mask in masks.items() if mask}, self.const ^ other.const)


class Lanes:
    """Operations on words of which lanes are subtracted; None where they are about others."""

    def __init__(self) -> None:
        self._words: dict[object, Value] = {}
        self._mixed: dict[str, Mixed] = {}
        self._names: dict[object, str] = {}
        self._lanes: dict[str, tuple[Lane, ...]] = {}

    def __contains__(self, base: str | None) -> bool:
        """Return whether a name is that of a word here."""
        return base in self._mixed or base in self._lanes

    def parts(self, base: str | None) -> tuple[list[tuple[Value, int]], int]:
        """Return the words with masks and the constant of which a word is the exclusive or."""
        mixed = self._mixed[base or ""]
        return [(self._words[key], mask) for key, mask in mixed.masks.items()], mixed.const

    def lanes(self, base: str | None) -> tuple[Lane, ...]:
        """Return the lanes of a difference, the lowest first; none for other words."""
        return () if base is None else self._lanes.get(base, ())

    def bitwise(self, a: Value, b: Value, op: str) -> Value | None:
        """Return ``and``, ``or`` or ``xor``."""
        if a.number is not None:
            a, b = b, a
        x, y, number = self._as_mixed(a), self._as_mixed(b), b.number
        if x is None:
            return None
        if number is None:
            return self._value(x.xor(y)) if y is not None and op == "xor" else None
        if a.base is None and (number not in _MASKS or op == "xor"):
            return None
        kept = {"and": number, "or": MASK ^ number, "xor": MASK}[op]
        return self._value(x.masked(kept).xor(Mixed({}, 0 if op == "and" else number)))

    def sub(self, a: Value, b: Value, field: Field) -> Value | None:
        """Return the difference; `field` returns that of the lanes of two words."""
        if a.number == MASK and b.base in self:
            return self.bitwise(b, a, "xor")  # -1 - b has all bits of b inverted
        x, y = (self._mixed.get(one.base or "") for one in (a, b))
        if x is None or y is None or x.const not in TOPS or y.const:
            return None
        tops, n = x.const, TOPS[x.const]
        if [*x.masks.values()] != [MASK ^ tops] or [*y.masks.values()] != [MASK ^ tops]:
            return None
        (first,), (second,) = x.masks, y.masks
        try:
            lanes = tuple(
                (field(self._words[first], self._words[second], k, n), n) for k in range(0, 32, n)
            )
        except UndecidedError:
            return None
        # A name of its own: what is known of these lanes holds in the current region.
        name = f"lanes {len(self._lanes)}"
        self._lanes[name] = lanes
        inverted = Mixed({first: tops}, tops).xor(Mixed({second: tops}, 0))
        known = self._as_mixed(Value(0, base=name))
        assert known is not None
        return self._value(known.xor(inverted))

    def inverted(self, a: Value, bits: int) -> Value:
        """Return a number with some bits inverted."""
        if not bits:
            return a
        known = self._as_mixed(a)
        if known is None:
            if a.base is not None:
                raise UndecidedError("bits", "bits of a word that is no sum are inverted")
            key = Exact(a.const, a.terms).key()
            self._words.setdefault(key, a)
            known = Mixed({key: MASK}, 0)
        return self._value(known.xor(Mixed({}, bits)))

    def plain(self, base: str | None) -> tuple[Value, int] | None:
        """Return the number of which a word has some bits inverted, and these; None for others."""
        mixed = self._mixed.get(base or "")
        if mixed is None or [*mixed.masks.values()] != [MASK]:
            return None
        (key,) = mixed.masks
        word = self._words[key]
        return None if word.base is not None else (word, mixed.const)

    def _as_mixed(self, a: Value) -> Mixed | None:
        """Return a word of this kind, or a sum of several functions, which has no other bits."""
        if a.base in self._mixed:
            return self._mixed[a.base]
        if a.base is None and len(a.terms) > 1:
            key: object = Exact(a.const, a.terms).key()
        elif a.base in self._lanes:
            key = a.base
        else:
            return None
        self._words.setdefault(key, a)
        return Mixed({key: MASK}, 0)

    def _value(self, mixed: Mixed) -> Value:
        if not mixed.masks:
            return Value(mixed.const)
        if not mixed.const and [*mixed.masks.values()] == [MASK]:
            (key,) = mixed.masks
            return self._words[key]
        key = frozenset(mixed.masks.items()), mixed.const
        name = self._names.setdefault(key, f"mixed {len(self._names)}")
        self._mixed[name] = mixed
        return Value(0, base=name)
