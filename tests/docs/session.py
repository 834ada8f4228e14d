"""The examples of a page, run in order in a folder of their own, as its reader would."""

import configparser
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import yaml

from tests.docs.blocks import ROOT, RUN, SYNTAX, Block, matches
from tests.firmware.arduino_core import UNO

PARSERS: dict[str, Callable[[str], object]] = {
    "json": json.loads,
    "toml": tomllib.loads,
    "yaml": lambda text: list(yaml.safe_load_all(text)),
    "ini": lambda text: configparser.ConfigParser().read_string(text),
}

# One interpreter for all blocks of a page: later blocks use names of earlier ones.
PYTHON = """
import contextlib, io, json, os, sys, traceback
names = {"__name__": "__main__"}
for line in sys.stdin:
    folder, code = json.loads(line)
    os.chdir(folder)
    said, is_done = io.StringIO(), True
    with contextlib.redirect_stdout(said):
        try:
            exec(compile(code, "<page>", "exec"), names)
        except BaseException:
            is_done = False
            traceback.print_exc(file=sys.stdout)
    print(json.dumps([is_done, said.getvalue()]), flush=True)
"""


PROGRESS = re.compile(r"^bncc: [a-z -]+: \d+ %, .*\n", re.MULTILINE)
"""Lines of progress, whose number depends on the speed of a computer."""
COPIED = ("bncc/data/bundled/*", "firmware_examples/*/*.bncc", "firmware_examples/*/data/*.gz")
"""Files of a clone that examples read."""


class Session:
    """
    The state of a reader's session with a page.

    Parameters
    ----------
    folder : Path
        An empty folder, made similar to the root of a clone as far as examples need it.
    """

    def __init__(self, folder: Path) -> None:
        for pattern in COPIED:
            for source in ROOT.glob(pattern):
                target = folder / source.relative_to(ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)
        self.home = self.folder = folder
        self.said = ""
        here = Path(sys.executable).parent
        self._environment = {
            **os.environ,
            "PATH": f"{here}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "COLUMNS": "100",
            "NO_COLOR": "1",
            "OMP_NUM_THREADS": "1",
        }
        self._python: subprocess.Popen[str] | None = None

    def close(self) -> None:
        """End the interpreter, if there is one."""
        if self._python is not None:
            self._python.communicate()

    def do(self, block: Block) -> None:
        """
        Run a block, or check it.

        Raises
        ------
        AssertionError
            If the block is wrong.
        """
        kinds = set(block.marks)
        if "file" in kinds:
            path = self.folder / block.marks["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, "utf-8")
            self._parse(block)
            self._compile_sketch(block)
        elif "not run" in kinds:
            assert block.marks["not run"], "a reason is missing"
        elif "checked by" in kinds:
            assert (ROOT / block.marks["checked by"]).is_file(), "there is no such test"
        elif "output" in kinds or _is_version(block.marks.get("output of")):
            assert matches(block.text, self.said), f"it was not this that was said:\n{self.said}"
        elif "output of" in kinds:
            pass
        elif "excerpt" in kinds:
            text = (self.folder / block.marks["excerpt"]).read_text("utf-8")
            assert matches(block.text, text), f"these lines are not there:\n{text}"
        elif "fragment" in kinds:
            self._compile(block)
        elif "sketch" in kinds:
            self._compile_sketch(block)
        elif block.language in RUN:
            self._run(block)
        elif block.language in SYNTAX:
            self._parse(block)
        else:
            raise AssertionError("nobody checks this block: say 'not run', and why")

    def _parse(self, block: Block) -> None:
        try:
            PARSERS.get(block.language, str)(block.text)
        except (ValueError, yaml.YAMLError, configparser.Error) as error:
            raise AssertionError(f"this is no {block.language}: {error}") from error

    def _run(self, block: Block) -> None:
        run = self._run_python if block.language == "python" else self._run_shell
        status, self.said = run(block.text)
        assert status == int(block.marks.get("exits", "0")), f"exit status {status}\n{self.said}"
        if "says" in block.marks:
            lines = [line.strip() for line in self.said.splitlines()]
            wanted = f"...{block.marks['says']}..."
            assert any(matches(wanted, line) for line in lines), self.said

    def _run_shell(self, text: str) -> tuple[int, str]:
        """Run shell lines, and keep the working directory that they change to."""
        where = self.home / ".where"
        script = f"trap 'pwd > {where}' EXIT\nset -o pipefail\n{text}"
        done = subprocess.run(
            ["bash", "-euc", script],
            cwd=self.folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=300,
            check=False,
        )
        self.folder = Path(where.read_text("utf-8").strip())
        return done.returncode, PROGRESS.sub("", done.stdout)

    def _run_python(self, text: str) -> tuple[int, str]:
        if self._python is None:
            self._python = subprocess.Popen(
                [sys.executable, "-c", PYTHON],
                cwd=self.home,
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self._python.stdin is not None
        assert self._python.stdout is not None
        self._python.stdin.write(json.dumps([str(self.folder), text]) + "\n")
        self._python.stdin.flush()
        is_done, said = json.loads(self._python.stdout.readline())
        return int(not is_done), said

    def _compile(self, block: Block) -> None:
        """Compile C with gcc after its headers, as declarations or else as statements."""
        includes = "".join(f'#include "{name}"\n' for name in block.marks["fragment"].split())
        forms = (
            f"{includes}{block.text}",
            f"{includes}void fragment(void);\nvoid fragment(void)\n{{\n{block.text}}}\n",
        )
        said = ""
        for form in forms:
            command = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Wno-unused", "-fsyntax-only"]
            done = subprocess.run(
                [*command, "-Werror", "-x", "c", "-"],
                cwd=self.folder,
                input=form,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode == 0:
                return
            said += done.stderr
        raise AssertionError(said)

    def _compile_sketch(self, block: Block) -> None:
        """Compile a sketch with the compiler of the Arduino IDE, if the block is one."""
        if "sketch" in block.marks:
            command = ["avr-g++", "-std=gnu++11", *UNO, f"-I{block.marks['sketch']}"]
            done = subprocess.run(
                [*command, "-Werror", "-include", "Arduino.h", "-fsyntax-only", "-x", "c++", "-"],
                cwd=self.folder,
                input=block.text,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr


def _is_version(wanted: str | None) -> bool:
    """Return whether a compiler, for example ``avr-gcc 5.4``, is installed in that version."""
    if wanted is None:
        return False
    compiler, version = wanted.split()
    if shutil.which(compiler) is None:
        return False
    command = [compiler, "-dumpfullversion", "-dumpversion"]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return f"{said.strip()}.".startswith(f"{version}.")
