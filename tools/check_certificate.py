"""
Check a certificate of ``bncc prove -o`` from a clone, without an installation of bncc.

    python tools/check_certificate.py CERTIFICATE ELF MODEL

It is ``python -m bncc.checker``, which imports nothing else of bncc.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bncc.checker.__main__ import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
