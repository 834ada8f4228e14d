"""Finding compilers and running them; a fake PATH simulates machines of all kinds."""

import platform
import sys
from pathlib import Path

import pytest

from bncc.errors import ToolchainError
from bncc.targets import TARGETS
from bncc.toolchain import tools as toolchain
from bncc.toolchain.tools import Tool, find_tools, host_compilers, require, run


@pytest.fixture
def fake_path(tmp_path, monkeypatch):
    """Return a function that puts a program with this output into an otherwise empty PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(toolchain, "find_spec", lambda name: None)

    def add(name, says="", status=0):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\necho '{says}'\nexit {status}\n")
        program.chmod(0o755)
        return str(program)

    return add


def test_an_empty_machine_has_no_tool_and_every_tool_a_hint(fake_path):
    """Nothing is found, and each entry carries the one command that installs it."""
    for tool in find_tools():
        assert not tool.is_installed
        assert tool.version is None
        assert tool.install_hint.startswith(("apt install ", "pip install "))
        assert tool.serves
        with pytest.raises(ToolchainError, match="is not installed; run"):
            _ = tool.command


def test_every_target_has_a_compiler_and_a_simulator(fake_path):
    """The list covers all of them in both roles; simavr is a library and listed elsewhere."""
    for role in ("compiler", "simulator"):
        served = {machine for tool in find_tools() if tool.role == role for machine in tool.serves}
        assert served >= set(TARGETS) - ({"avr"} if role == "simulator" else set())


def test_gcc_builds_for_x86_only_on_an_x86(fake_path, monkeypatch):
    """Elsewhere the wheel is left, which builds for everything everywhere."""
    for machine, served in (("x86_64", True), ("AMD64", True), ("aarch64", False)):
        monkeypatch.setattr(platform, "machine", lambda machine=machine: machine)
        tools = {tool.name: tool.serves for tool in find_tools()}
        assert ("x86" in tools["gcc"]) is ("x86" in tools["clang"]) is served
        assert {"host", "x86"} <= set(tools["ziglang"])


@pytest.mark.parametrize(
    ("says", "version"),
    [
        ("gcc (Debian 12.2.0-14+deb12u1) 12.2.0", "12.2.0"),
        ("Debian clang version 14.0.6", "14.0.6"),
        ("arm-none-eabi-gcc (15:12.2.rel1-1) 12.2.1 20221205", "12.2.1"),
        ("gcc (GCC) 4.9 (build 7)", "4.9"),
        ("no number here", None),
    ],
)
def test_the_version_is_the_compiler_s_and_not_the_package_s(fake_path, says, version):
    """Debian's text in parentheses is not the version."""
    fake_path("gcc", says)
    gcc = next(tool for tool in find_tools() if tool.name == "gcc")
    assert gcc.version == version
    assert str(gcc) == " ".join(word for word in ("gcc", version) if word)


def test_a_program_that_cannot_be_run_has_no_version(fake_path, tmp_path):
    """It exists, but prints nothing."""
    (tmp_path / "gcc").write_bytes(b"\x7fnot a program")
    (tmp_path / "gcc").chmod(0o755)
    assert next(tool for tool in find_tools() if tool.name == "gcc").version is None


def test_the_first_compiler_is_cc_of_the_environment_then_gcc_then_clang(fake_path, monkeypatch):
    """All of them are taken under "all"."""
    fake_path("clang")
    assert [tool.name for tool in host_compilers()] == ["clang"]
    fake_path("gcc")
    assert [tool.name for tool in host_compilers()] == ["gcc"]
    fake_path("mycc")
    monkeypatch.setenv("CC", "mycc")
    assert [tool.name for tool in host_compilers()] == ["mycc"]
    assert [tool.name for tool in host_compilers("all")] == ["mycc", "gcc", "clang"]


def test_cc_named_clang_goes_before_gcc(fake_path, monkeypatch):
    """CC decides also between the compilers that bncc knows anyway."""
    fake_path("gcc")
    fake_path("clang")
    monkeypatch.setenv("CC", "clang")
    assert [tool.name for tool in host_compilers()] == ["clang"]
    assert [tool.name for tool in host_compilers("all")] == ["clang", "gcc"]


def test_a_plain_cc_serves_where_there_is_nothing_else(fake_path):
    """Systems with neither gcc nor clang by name still have cc."""
    fake_path("cc")
    assert [tool.name for tool in host_compilers()] == ["cc"]


def test_a_compiler_may_be_named_by_path(fake_path):
    """The path is used as it is."""
    path = fake_path("gcc-13", "gcc-13 (x) 13.1.0")
    (tool,) = host_compilers(path)
    assert tool.command == (path,)
    assert str(tool) == "gcc-13 13.1.0"


@pytest.mark.parametrize("name", ["avr-gcc", "arm-none-eabi-gcc", "unicorn"])
def test_what_builds_for_other_machines_does_not_build_for_this_one(fake_path, name):
    """A cross compiler would fail with an unclear error; a simulator is no compiler."""
    fake_path(name)
    with pytest.raises(ToolchainError, match=f"'{name}' does not build for host; use gcc"):
        host_compilers(name)


def test_a_missing_compiler_is_one_sentence_with_the_remedy(fake_path):
    """Both for a named one and for none at all."""
    with pytest.raises(ToolchainError, match="'clang' is not installed; run `apt install clang`"):
        host_compilers("clang")
    for choice in (None, "all"):
        with pytest.raises(
            ToolchainError,
            match="no C compiler is installed on this computer; run `apt install gcc`",
        ):
            host_compilers(choice)


def test_the_ziglang_wheel_is_a_compiler_of_its_own_kind(fake_path, tmp_path, monkeypatch):
    """It is started as ``zig cc``, and serves the host where there is nothing else."""
    package = tmp_path / "ziglang"
    package.mkdir()
    (package / "__init__.py").write_text("")
    monkeypatch.undo()
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    (zig,) = host_compilers()
    assert zig.command == (str(package / "zig"), "cc")
    assert host_compilers("ziglang")[0].command == zig.command


def test_a_tool_is_required_by_name(fake_path):
    """It is returned, missing, or unknown."""
    path = fake_path("avr-gcc", "avr-gcc (GCC) 5.4.0")
    hint = "apt install gcc-avr avr-libc"
    assert require("avr-gcc") == Tool("avr-gcc", path, "5.4.0", ("avr",), hint)
    with pytest.raises(ToolchainError, match="run `apt install qemu-system-arm`"):
        require("qemu-system-arm")
    with pytest.raises(ToolchainError, match="unknown tool 'nonsense'"):
        require("nonsense")


def test_a_wheel_that_cannot_be_loaded_is_one_sentence_with_the_remedy(monkeypatch):
    """Such as one whose library is of another machine."""
    found = Tool("unicorn", "unicorn", "2.0", ("rv32",), "pip install unicorn", "simulator")
    monkeypatch.setattr(toolchain, "find_tools", lambda: (found,))
    monkeypatch.setitem(sys.modules, "unicorn", None)
    with pytest.raises(ToolchainError, match="run `pip install --force-reinstall unicorn`"):
        require("unicorn")


def test_a_command_returns_what_it_says(tmp_path):
    """Stdout of a command that succeeds."""
    assert run((sys.executable, "-c", "print('done')"), tmp_path) == "done\n"


def failing(code: str) -> tuple[str, str, str]:
    return (sys.executable, "-c", f"import sys; sys.stderr.write({code!r}); sys.exit(1)")


def test_a_failure_names_the_first_error_line_without_paths(tmp_path):
    """Warnings before it and paths of this machine are omitted."""
    text = (
        f"{tmp_path}/m.c: In function\n{tmp_path}/m.c:3:1: error: oops /usr/lib/x.h\nmore error\n"
    )
    with pytest.raises(ToolchainError) as caught:
        run(failing(text), tmp_path)
    message = str(caught.value)
    assert "failed: m.c:3:1: error: oops x.h; try another compiler" in message
    assert "\n" not in message
    assert str(tmp_path) not in message


def test_a_missing_library_is_named_before_the_linker_s_last_words(tmp_path):
    """For instance the runtime of the sanitizers."""
    text = "/usr/bin/ld: cannot find libasan.so\ncollect2: error: ld returned 1 exit status\n"
    with pytest.raises(ToolchainError, match="failed: ld: cannot find libasan"):
        run(failing(text), tmp_path)


def test_a_silent_failure_is_still_a_sentence(tmp_path):
    """Nothing on stderr."""
    with pytest.raises(ToolchainError, match="failed: no message; try"):
        run(failing(""), tmp_path)


def test_a_command_that_cannot_start_or_end_is_reported(tmp_path):
    """A missing program, and one that takes too long."""
    with pytest.raises(ToolchainError, match="nothing-here cannot be started"):
        run((str(tmp_path / "nothing-here"),), tmp_path)
    with pytest.raises(ToolchainError, match="did not finish within"):
        run((sys.executable, "-c", "import time; time.sleep(9)"), tmp_path, timeout=0.2)


def test_the_compilers_of_this_machine_are_found():
    """Every installed tool has an existing path."""
    for tool in find_tools():
        assert tool.path is None or Path(tool.path).exists()


def test_ctrl_c_of_a_terminal_does_not_reach_tools(tmp_path):
    """A search that ends at the next candidate would take a killed compiler for a failed one."""
    code = "import os; print(os.getsid(0) == os.getpid())"
    assert run((sys.executable, "-c", code), tmp_path) == "True\n"
