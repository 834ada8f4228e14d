"""``python -m bncc.checker CERTIFICATE ELF MODEL``: 0 accepted, 1 rejected, 2 bad use."""

import sys
from argparse import ArgumentParser
from pathlib import Path


def main(arguments: list[str]) -> int:
    """Check a certificate and print the verdict."""
    parser = ArgumentParser(usage="python -m bncc.checker CERTIFICATE ELF MODEL", add_help=False)
    parser.add_argument("files", nargs=3, type=Path)
    try:
        from bncc.checker.check import verdict

        code, text = verdict(*(path.read_bytes() for path in parser.parse_args(arguments).files))
    except (OSError, ImportError) as error:
        parser.error(f"{error}; it needs the three files, capstone and numpy")
    print(text)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
