"""What the words of machines are like."""

from collections.abc import Mapping

WORD_BITS: Mapping[str | None, int] = {"x86": 64}
"""Width of a register, where it is wider than 32 bits."""
LOADS_ANYWHERE = frozenset({"x86", "cortex-m3", "cortex-m4", "cortex-m7"})
"""Machines that load a word from any address by one instruction."""
