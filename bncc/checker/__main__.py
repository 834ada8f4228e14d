"""``python -m bncc.checker CERTIFICATE ELF MODEL``: 0 accepted, 1 rejected, 2 bad use."""

import sys
from pathlib import Path


def main(arguments: list[str]) -> int:
    """Check a certificate and print the verdict."""
    try:
        certificate, elf, model = map(Path, arguments)
        from bncc.checker.check import verdict

        code, text = verdict(certificate.read_bytes(), elf.read_bytes(), model.read_bytes())
    except ValueError:
        code, text = 2, "usage: python -m bncc.checker CERTIFICATE ELF MODEL"
    except OSError as error:
        code, text = 2, f"{error.filename}: {error.strerror}"
    except ImportError as error:
        code, text = 2, f"the checker needs capstone and numpy: {error}"
    print(text, file=sys.stderr if code == 2 else sys.stdout)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
