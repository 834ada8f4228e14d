"""Kernel to template context: the C types, arrays and expressions of one emitted file."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from bncc.lower.adaptation import AdaptationPlan, OffsetTables, plan_adaptation
from bncc.lower.c.c99 import ArrayText, array, unsigned
from bncc.lower.c.constants import LabelText, Summed, label_text, summed_arrays
from bncc.lower.confidence import ConfidencePlan, plan_confidence
from bncc.lower.counters import CounterPlan, plan_counters
from bncc.lower.cut_conditions import Compared
from bncc.lower.direct import is_direct, plan_direct
from bncc.lower.discretizers.choice import Discretizers
from bncc.lower.filter import FilterPlan, plan_filter
from bncc.lower.front import FrontPlan, FrontText, front_text
from bncc.lower.gate import GatePlan
from bncc.lower.input_check import InputCheck
from bncc.lower.kernels.base import Kernel, KernelText
from bncc.lower.kernels.families import kernel_text
from bncc.lower.kernels.plain.layout import PlainKernel
from bncc.lower.missing.plan import JointPlan, MissingPlan
from bncc.lower.missing.text import MissingText, missing_text
from bncc.lower.range_check import CheckedText, checked_text
from bncc.lower.raw import RawPlan, plan_raw
from bncc.lower.reading_cost import ReadingTerms, reading_terms
from bncc.lower.reading_lines import DirectReadings
from bncc.lower.request import EntryPoints
from bncc.lower.state_cost import hands_over
from bncc.lower.stream import StreamPlan, plan_stream
from bncc.lower.unknown import UnknownPlan, plan_unknown
from bncc.model.checked import Limits
from bncc.model.confidence import Confidence
from bncc.model.counters import Counters
from bncc.model.filter import Filter
from bncc.model.unknown import Unknown
from bncc.program.ir import Program


@dataclass(frozen=True)
class LeastText:
    """C text of the argmin over costs."""

    # True if the highest bit of a difference shows which sum is less: the largest sum does not
    # reach that bit, so it is set if and only if the difference borrows
    by_borrow: bool
    type: str  # C type in which sums are compared
    highest: int  # The highest bit of that type


@dataclass(frozen=True)
class ConstantTime:
    """Template data for C without branches on its input."""

    least: LeastText  # Argmin over costs
    needs_less: bool  # True if numbers that fill 32 bits are compared
    opaque_types: tuple[str, ...]  # C types of values that compilers must not know anything of


def plan_constant_time(kernel: Kernel, raw: RawPlan | None, state_bits: int) -> ConstantTime:
    """Choose the type in which sums are compared."""
    bits = next(
        (b for b in (8, 16, 32) if b >= kernel.sum_bits and kernel.largest_sum < 1 << (b - 1)), 0
    )
    least = LeastText(bits > 0, unsigned(bits or 32), (bits or 32) - 1)
    kinds = set(raw.kinds) if raw else set[str]()
    needs_less = not least.by_borrow or not kinds.isdisjoint({"int32", "float32"})
    widths = {2 * state_bits, least.highest + 1}
    if needs_less or kinds:
        widths.add(32)
    return ConstantTime(least, needs_less, tuple(unsigned(bits) for bits in sorted(widths)))


@dataclass(frozen=True, eq=False)
class Layout:
    """Types, arrays and expressions of the emitted C."""

    name: str  # Prefix of every symbol
    program: Program  # The program that is printed
    kernel: Kernel  # The same program laid out
    entries: EntryPoints  # Which functions are emitted
    raw: RawPlan | None  # The raw entry point, when there is one
    # What the raw entry point compares readings with where it needs no states
    direct: DirectReadings | None
    stream: StreamPlan | None  # The entry points for one feature at a time, when there are any
    missing: MissingText | None  # The entry points for missing features, when there are any
    range_check: CheckedText | None  # The checked entry point, when there is one
    constant_time: ConstantTime | None  # How branches on the input are avoided, where they are
    state_bits: int  # Width of a state in the interface
    check: InputCheck  # How states are checked
    text: KernelText  # The kernel
    arrays: tuple[ArrayText, ...]  # Every constant array, the tables first
    labels: LabelText  # Class labels
    front: FrontPlan | None  # The decision tree in front of the kernel, if any
    front_text: FrontText | None  # The same as C
    gate: GatePlan | None  # The gate in the kernel's sum, if any
    filter: FilterPlan | None  # The filter over decisions in time, when there is one
    confidence: ConfidencePlan | None  # The confidence of decisions, when there is one
    unknown: UnknownPlan | None  # The rule for unknown readings, when there is one
    counters: CounterPlan | None  # Counters of decisions, when there are any
    adaptation: AdaptationPlan | None  # The adaptation to labeled inputs, when there is one
    # True if the code that finds states and the kernel's are copied into every entry point, so that
    # states stay in registers between them
    hands_over: bool

    @property
    def decides(self) -> bool:
        """True if the kernel's template decides; else the sums of all classes are compared."""
        return self.text.decides and self.constant_time is None

    @property
    def largest_sum(self) -> int:
        """No sum of a class exceeds this for any input; scores include the row of a front."""
        if self.front is None or not self.entries.scores:
            return self.kernel.largest_sum
        return _largest_score(self.kernel, self.front)

    @property
    def table_bytes(self) -> int:
        """Bytes of all tables and the prior."""
        return self.text.table_bytes

    @property
    def other_bytes(self) -> int:
        """Bytes of row addresses, limits, thresholds and labels."""
        return self.rom_bytes - self.table_bytes

    @property
    def rom_bytes(self) -> int:
        """Bytes of all constants."""
        return sum(a.n_bytes for a in self.arrays) + self.labels.n_bytes

    @cached_property
    def direct_terms(self) -> ReadingTerms:
        """Sizes of the kernel where it compares readings."""
        assert self.direct is not None
        return reading_terms(self.program, self.kernel, self.direct.compared)

    @cached_property
    def summed(self) -> tuple[Summed, ...]:
        """The arrays as the CRC of all constants is taken."""
        return summed_arrays(self.arrays)


def lay_out(
    program: Program,
    kernel: Kernel,
    entries: EntryPoints,
    name: str,
    check: InputCheck,
    discretizers: Discretizers,
    *,
    missing: MissingPlan | JointPlan | None = None,
    limits: tuple[Limits, ...] | None = None,
    units: Sequence[str] = (),
    may_copy: bool = False,
    constant_time: bool = False,
    compare: Compared | None = None,
    front: FrontPlan | None = None,
    gate: GatePlan | None = None,
    over_time: Filter | None = None,
    confidence: Confidence | None = None,
    unknown: Unknown | None = None,
    counters: Counters | None = None,
    adaptation: OffsetTables | None = None,
) -> Layout:
    """Choose types and print the arrays."""
    state_bits = 8 if max(program.n_states) <= 255 else 16
    raw = None
    if entries.raw:
        raw = plan_raw(program.features, state_bits, discretizers, name, units, check.unread)
    stream = None
    if entries.stream and isinstance(kernel, PlainKernel):
        stream = plan_stream(program, kernel.tables, kernel.sum_bits, state_bits, raw, name)
    text = kernel_text(program, kernel, name, state_bits)
    if entries.samples:
        text = text.renamed("start", "first_entry")  # NAME_start is a function
    arrays = [*text.arrays, *(text.sum_arrays if entries.scores else ())]
    feeds = stream is not None and not stream.last
    absent = missing_text(missing, state_bits) if missing is not None else None
    if check.reads_last_states or text.reads_last_states or feeds or absent is not None:
        last = [n - 1 for n in program.n_states]
        arrays.append(array("last_state", state_bits, last, "Largest state of each feature."))
    direct = None
    if raw is not None and is_direct(program, kernel, compare):
        direct = plan_direct(program, kernel, raw, name, compare)
    if raw is not None:
        arrays += raw.arrays
    if direct is not None:
        arrays += direct.arrays
    if stream is not None:
        arrays += stream.arrays
    if absent is not None:
        arrays += absent.arrays
    checked = None
    if raw is not None and limits is not None:
        checked = checked_text(program.features, limits, raw)
        arrays += checked.arrays
    novelty = None
    if raw is not None and unknown is not None:
        largest = _largest_score(kernel, front)
        novelty = plan_unknown(unknown, program.features, raw, program.n_classes, largest)
        arrays += novelty.arrays
    step = None
    if over_time is not None:
        largest = _largest_score(kernel, front) + (0 if adaptation is None else adaptation.most)
        step = plan_filter(over_time, largest, kernel.sum_bits, program.n_classes)
        arrays += step.arrays
    labels = label_text(program.classes)
    arrays.append(labels.starts)
    return Layout(
        name=name,
        program=program,
        kernel=kernel,
        entries=entries,
        raw=raw,
        direct=direct,
        stream=stream,
        missing=absent,
        range_check=checked,
        constant_time=plan_constant_time(kernel, raw, state_bits) if constant_time else None,
        state_bits=state_bits,
        check=check,
        text=text,
        arrays=tuple(arrays),
        labels=labels,
        front=front,
        front_text=None if front is None else front_text(front, name, raw),
        gate=gate,
        filter=step,
        confidence=None
        if confidence is None
        else plan_confidence(confidence, _largest_score(kernel, front)),
        unknown=novelty,
        counters=None
        if counters is None
        else plan_counters(
            counters, _largest_score(kernel, front), has_unknown=novelty is not None
        ),
        adaptation=None
        if adaptation is None
        else plan_adaptation(adaptation, _largest_score(kernel, front), kernel.sum_bits),
        hands_over=may_copy and not constant_time and direct is None and _hands_over(raw, text),
    )


def _largest_score(kernel: Kernel, front: FrontPlan | None) -> int:
    """Return a bound on scores, which include the row of a front."""
    return kernel.largest_sum + (0 if front is None else front.front.most)


def _hands_over(raw: RawPlan | None, text: KernelText) -> bool:
    """Return whether states can stay in registers: few, found and read individually."""
    if raw is None:
        return False
    return hands_over(len(raw.fields), is_loop=raw.is_loop, decides=text.decides)
