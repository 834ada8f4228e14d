"""``python -m bncc.checker CERTIFICATE ELF MODEL``: 0 accepted, 1 rejected, 2 bad use."""

import gzip
import json
import sys
from pathlib import Path


def main(arguments: list[str]) -> int:
    """Check a certificate and print the verdict."""
    if len(arguments) != 3:
        print("usage: python -m bncc.checker CERTIFICATE ELF MODEL", file=sys.stderr)
        return 2
    try:
        certificate, elf, model = (Path(one).read_bytes() for one in arguments)
        from bncc.checker.check import check
        from bncc.checker.values import RejectedError
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    except ImportError as error:
        print(f"the checker needs capstone and numpy: {error}", file=sys.stderr)
        return 2
    try:
        # A number that is no integer is malformed.
        claims = json.loads(gzip.decompress(certificate), parse_float=int, parse_constant=int)
        check(claims, elf, model)
    except Exception as error:  # whatever a malformed file makes the readers raise
        is_read = isinstance(error, RejectedError)
        why = error if is_read else f"a file is malformed ({type(error).__name__}: {error})"
        print(f"rejected: {why}")
        return 1
    print(
        f"accepted: on {claims['target']}, {claims['symbol']} decides as {claims['entry']} of the "
        f"model does for every input; {claims['instructions']} instructions and {claims['stack']} "
        "bytes of stack at most"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
