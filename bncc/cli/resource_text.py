"""Footprint and time of entry points in words, measured or estimated."""

from bncc.resources import FUNCTIONS, Resources, functions_of


def resource_words(resources: Resources) -> list[str]:
    """Return for people what entry points take: memory, and a line of time for each of them."""
    where = f"on {resources.target} at {resources.opt_level}"
    functions = " and ".join(FUNCTIONS[entry] for entry in resources.entries)
    lines = [
        f"{resources.flash:,} bytes of flash, {resources.ram} of RAM, {resources.stack} of stack "
        f"to call {functions}, {where}"
    ]
    for entry in resources.entries:
        lines.append(f"{functions_of((entry,))}: {_time(resources, entry)}")
    return lines


def _time(resources: Resources, entry: str) -> str:
    span = resources.spans.get(entry)
    if span is None:
        return "time not estimated; --target measures it where its tools are installed"
    if resources.how == "estimated":
        return f"about {span.max:,} {resources.unit}"
    return f"{span.min:,} to {span.max:,} {resources.unit} over the inputs tried, not a bound"
