"""
Cycles of straight-line code: the kind of each instruction, and the sum over a basic block.

The decoders of `bncc.prove` give the meaning of an instruction; its kind follows from that and from
its name. Nothing is assumed of an instruction that they do not know.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bncc.prove.instructions import Instruction, Jump, Load, Set, Store
from bncc.targets.timing import Cycles, Timing, steps_of

_WORD = 4
"""Bytes that a core fetches at once."""
_FETCHED_PAST = 2
"""Words that a core may have fetched past a jump that it takes."""


class UnknownTimeError(Exception):
    """An instruction whose kind has no time in a table."""


def kind_of(instruction: Instruction) -> tuple[str, int]:
    """Return the kind of an instruction, a key of a timing, and the registers of a list."""
    loads = sum(isinstance(effect, Load) for effect in instruction.effects)
    stores = sum(isinstance(effect, Store) for effect in instruction.effects)
    jump = jump_of(instruction)
    name = instruction.text.partition(" ")[0].removesuffix(".w")
    is_list = loads + stores > 1 or name.startswith(("ldm", "stm", "pop", "push", "vp"))
    if jump is not None and loads:
        return ("loads-and-jump", loads) if is_list else ("load-and-jump", 0)
    if jump is not None:
        return _jump_kind(jump), 0
    if is_list:
        return ("loads", loads) if loads else ("stores", stores)
    if loads or stores:
        return ("load" if loads else "store"), 0
    return _data_kind(name), 0


def _jump_kind(jump: Jump) -> str:
    is_constant = isinstance(jump.target, int)
    if jump.is_call:
        return "call" if is_constant else "call-register"
    if not is_constant:
        return "jump-register"
    return "jump" if jump.condition is None else "jump-if"


def _data_kind(name: str) -> str:
    """Return the kind of an instruction that neither jumps nor accesses memory."""
    name = name.removeprefix("c.")
    if name in ("dmb", "dsb", "isb"):
        return "barrier"
    if name.startswith("it") and set(name[1:]) <= set("te"):
        return "block"
    if name.startswith("v"):
        return "float"
    if name.startswith(("udiv", "sdiv", "div", "rem")):
        return "divide"
    if name.startswith(("mulh", "umull", "smull")):
        return "multiply-high"
    if name.startswith(("mla", "mls", "smla")):
        return "multiply-add"
    if name.startswith(("mul", "smul")):
        return "multiply"
    if name.startswith(("sll", "srl", "sra", "lsl", "lsr", "asr", "ror")):
        return "shift"
    return "plain"


def jump_of(instruction: Instruction) -> Jump | None:
    """Return the jump of an instruction, which is its last effect."""
    last = instruction.effects[-1] if instruction.effects else None
    return last if isinstance(last, Jump) else None


def is_split(address: int, size: int) -> bool:
    """Return whether an instruction begins in one word and ends in the next."""
    return address % _WORD + size > _WORD


@dataclass(frozen=True)
class Block:
    """Cycles of a basic block, without the jump at its end."""

    body: Cycles
    taken: Cycles  # The jump at its end if it is taken, zeros without one
    not_taken: Cycles
    jumps: bool  # True if a jump ends it
    starts_with_load: bool
    ends_with_load: bool
    n_words: int  # Words of code
    n_loads: int  # Loads of one register each
    is_split: bool  # True if its first instruction begins in one word and ends in the next


def block_of(code: Sequence[Instruction], timing: Timing, *, behind: int = 0) -> Block:
    """
    Return the cycles of consecutive instructions, at least one, of which only the last jumps.

    `behind` is the size of the instruction behind them. For a core that shifts in steps, those of
    an amount in a register are not included.
    """
    low = high = timing.split.each * sum(is_split(each.address, each.size) for each in code)
    n_loads = 0
    pairs = False
    end = jump_of(code[-1])
    for instruction in code[:-1] if end else code:
        kind, n = kind_of(instruction)
        fewest, most = _cycles(timing, kind, n, instruction)
        if timing.pairs_loads and pairs and kind == "load":
            fewest = 1
        if instruction.condition is not None:
            fewest = min(fewest, _cycles(timing, "skipped", 0, instruction)[0])
        low, high = low + fewest, high + most
        n_loads += n if kind == "loads" else kind == "load"
        pairs = kind == "load"
    taken = not_taken = (0, 0)
    if end:
        kind, n = kind_of(code[-1])
        taken = _cycles(timing, kind, n, code[-1])
        if kind == "jump-if" and is_split(code[-1].address + code[-1].size, behind):
            taken = taken[0] + timing.split.behind, taken[1] + timing.split.behind
        not_taken = _cycles(timing, "not-taken", 0, code[-1])
        n_loads += n
    first, last = code[0].address, code[-1].address + code[-1].size - 1
    return Block(
        (low, high), taken, not_taken, end is not None,
        starts_with_load=kind_of(code[0])[0] == "load", ends_with_load=pairs and end is None,
        n_words=last // _WORD - first // _WORD + 1, n_loads=n_loads,
        is_split=is_split(first, code[0].size),
    )  # fmt: skip


def _cycles(timing: Timing, kind: str, n: int, instruction: Instruction) -> Cycles:
    if kind not in timing.cycles or (n and "register" not in timing.cycles):
        raise UnknownTimeError(
            f"the timing of {timing.title} has no entry for {instruction.text} ({kind})"
        )
    low, high = timing.cycles[kind]
    if kind == "shift" and timing.shifts_in_steps and instruction.effects:
        low = high = low + steps_of(_amount(instruction))
    each = timing.cycles["register"] if n else (0, 0)
    return low + n * each[0], high + n * each[1]


def _amount(instruction: Instruction) -> int:
    """Return the constant by which an instruction shifts, 0 for a register."""
    (effect,) = instruction.effects
    assert isinstance(effect, Set)
    amount = effect.value[-1] if isinstance(effect.value, tuple) else None
    return amount if isinstance(amount, int) else 0


@dataclass(frozen=True)
class Flash:
    """Wait states of the memory with code and tables."""

    states: int = 0
    has_prefetch: bool = True

    def cycles(self, block: Block, *, is_target: bool) -> Cycles:
        """
        Return the fewest and the most wait cycles of a block.

        `is_target` is True if a jump leads to it. At most every word of code and every loaded one
        waits, and the words fetched past the jump before. A buffer or a cache may hide all.
        """
        most = block.n_words + block.n_loads + _FETCHED_PAST * is_target
        fewest = 0 if self.has_prefetch else block.n_words - (not is_target)
        return self.states * fewest, self.states * most


def edge_cycles(
    before: Block | None, block: Block, *, is_taken: bool, timing: Timing, flash: Flash
) -> Cycles:
    """
    Return the cycles of a block and of the jump that ended the one before.

    `is_taken` is True if that jump was taken.
    """
    low, high = block.body
    if before is not None and before.jumps:
        fewest, most = before.taken if is_taken else before.not_taken
        low, high = low + fewest, high + most
    elif timing.pairs_loads and before and before.ends_with_load and block.starts_with_load:
        low -= timing.cycles["load"][0] - 1
    refill = timing.split.target * (is_taken and block.is_split)
    waits = flash.cycles(block, is_target=is_taken)
    return low + refill + waits[0], high + refill + waits[1]
