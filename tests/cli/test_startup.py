"""Imports of a command: `emit-c` on a saved model must start in well under a second."""

import subprocess
import sys
from pathlib import Path

HEAVY = (
    "torch", "pandas", "scipy", "sklearn", "rich", "cffi", "pyarrow", "elftools", "unicorn",
    "bncc.papers", "bncc.baselines",
)  # fmt: skip

_PROGRAM = """
import sys
from bncc.cli.main import main
try:
    main({args!r})
except SystemExit as done:
    assert not done.code, done.code
print(*sys.modules, file=sys.stderr)
"""


def loaded(*args: object) -> set[str]:
    """Return which modules a command line has imported when it is done."""
    program = _PROGRAM.format(args=[str(arg) for arg in args])
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True
    )
    return set(done.stderr.splitlines()[-1].split())


def imported(*args: object) -> set[str]:
    """Return which heavy packages a command line has imported when it is done."""
    return loaded(*args) & set(HEAVY)


def test_emit_c_imports_nothing_heavy(model: Path, tmp_path: Path) -> None:
    assert imported("emit-c", model, "-o", tmp_path / "c") == set()


def test_inspect_imports_nothing_heavy(model: Path, tmp_path: Path) -> None:
    assert imported("inspect", model, "--ir", "--svg", tmp_path / "s.svg") == set()


def test_help_imports_no_command() -> None:
    program = (
        "import sys\nfrom bncc.cli.main import COMMANDS, main\ntry: main(['--help'])\n"
        "except SystemExit: pass\n"
        "modules = [f'bncc.cli.{module}' for module, _ in COMMANDS.values()]\n"
        "print([name for name in modules if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_counting_needs_no_torch(readings: Path, tmp_path: Path) -> None:
    found = imported("train", readings, "-o", tmp_path / "m.bncc", "--parameters", "ml")
    assert "torch" not in found
    assert "sklearn" not in found


def test_emit_c_starts_at_once(model: Path, tmp_path: Path) -> None:
    """It takes half a second on an idle machine, most of it for imports."""
    assert len(loaded("emit-c", model, "-o", tmp_path / "c")) < 600
