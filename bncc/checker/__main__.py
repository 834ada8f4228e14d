"""``python -m bncc.checker CERTIFICATE ELF MODEL``: 0 accepted, 1 rejected, 2 bad use."""

import sys
from argparse import ArgumentParser
from pathlib import Path


def main(arguments: list[str]) -> int:
    """Check a certificate and print the verdict."""
    parser = ArgumentParser("python -m bncc.checker", usage="%(prog)s CERTIFICATE ELF MODEL")
    parser.add_argument("files", nargs=3, type=Path, help="0: accepted, 1: rejected, 2: bad use")
    try:
        from bncc.checker.check import verdict

        code, text = verdict(*map(Path.read_bytes, parser.parse_args(arguments).files))
    except ImportError as error:
        parser.exit(2, f"error: {error}; install the packages capstone and numpy\n")
    except OSError as error:
        parser.exit(2, f"error: '{error.filename}': {error.strerror}; name another file\n")
    print(text)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
