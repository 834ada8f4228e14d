"""Search space of a sweep: values within their domains, conditions, one-sentence errors."""

from pathlib import Path

import pytest

from bncc.errors import OptionError
from bncc.search.option_domains import OPTIONS, option_of
from bncc.search.space import PRESETS, Case, Domain, Space, read_space, space_of
from bncc.search.trial_result import Choice
from tests.spaces import drawer


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_draws_what_training_takes(name: str) -> None:
    space = read_space(name)
    for seed in range(50):
        drawn = space.draw(drawer(seed))
        for option, value in drawn.items():
            assert option_of(option).value(value) == value
            assert isinstance(value, str | int | float | bool)


def test_the_default_space_reaches_all_it_promises() -> None:
    space = read_space("default")
    drawn = [space.draw(drawer(seed)) for seed in range(300)]
    assert {d["structure"] for d in drawn} == {"naive", "chow-liu", "tan-subset", "tables"}
    assert {d.get("parameters") for d in drawn} == {None, "hybrid", "free"}
    assert {d["bits"] for d in drawn} == set(range(1, 9))
    assert {d["optimize"] for d in drawn} == {"size", "balanced", "speed"}
    sums = [d for d in drawn if d["structure"] == "tables"]
    assert {d["bits"] for d in sums} == {2, 3, 4}
    assert {d["structure-option.rows"] for d in sums} == {8, 16, 32}
    assert {d.get("structure-option.dictionary") for d in sums} == {None, 0, 256}
    for d in sums:
        assert not {"parameters", "discretize", "lr", "lambda", "jitter"} & set(d)
    for d in (d for d in drawn if d not in sums):
        assert "structure-option.tables" not in d
        assert ("size-weight" in d) == (d["structure"] == "tan-subset")
        assert ("structure-option.parents" in d) == (d["structure"] == "tan-subset")
        assert ("n-bins" in d) == (d["discretize"] != "mdl")
        least, most = {"hybrid": (10, 1000), "free": (0.1, 100)}[str(d["parameters"])]
        assert least <= d["lambda"] <= most


def test_the_settings_of_s0_have_its_ranges() -> None:
    """REQUIREMENTS 1.1, R1.5: setting I searches eta too, setting II prices the margin higher."""
    first, second = (read_space(f"s0-setting-{k}").options for k in (1, 2))
    assert first["lambda"][0].domain == Domain(low=1.0, high=1000.0, log=True)
    assert second["lambda"][0].domain == Domain(low=10.0, high=1000.0, log=True)
    assert first["gamma"] == second["gamma"] == (Case(Domain(low=0.1, high=100.0, log=True), {}),)
    assert first["eta"][0].domain == Domain(low=1.0, high=20.0)
    assert second["eta"][0].domain == Domain((10.0,))
    assert first["float"][0].domain.choices == (True,)


def test_the_first_case_that_holds_counts() -> None:
    space = space_of(
        """
        [bits]
        choices = [1, 2, 3]
        [[lambda]]
        value = 7
        when = { bits = [1, 2] }
        [[lambda]]
        value = 8
        when = { bits = 2 }
        [gamma]
        value = 1
        when = { lambda = 7.0 }
        """,
        "s",
    )

    def with_bits(bits: int) -> dict[str, Choice]:
        return space.draw(lambda name, domain: bits if name == "bits" else domain.choices[0])

    assert with_bits(1) == {"bits": 1, "lambda": 7.0, "gamma": 1.0}
    assert with_bits(2) == {"bits": 2, "lambda": 7.0, "gamma": 1.0}
    assert with_bits(3) == {"bits": 3}


def test_numbers_from_a_range_are_short_and_within_it() -> None:
    narrow = Domain(low=0.123446, high=0.123448)
    assert narrow.rounded(0.1234471) == 0.123446
    assert Domain(low=0.0, high=1.0).rounded(1 / 3) == 0.3333
    assert Domain(low=1e-7, high=1.0, log=True).rounded(1.23456e-7) == 1.235e-7
    assert Domain(low=1, high=8).rounded(3) == 3
    assert Domain(choices=(1 / 3,)).rounded(1 / 3) == 1 / 3
    drawn = [read_space("default").draw(drawer(seed)) for seed in range(8)]
    assert all(len(repr(one.get("lr", 0.0))) <= 8 for one in drawn)


def test_numbers_are_floats_and_counts_are_integers() -> None:
    space = space_of("[lr]\nlow = 1\nhigh = 2\n[bits]\nlow = 1\nhigh = 2", "s")
    (lr,), (bits,) = space.options["lr"], space.options["bits"]
    assert isinstance(lr.domain.low, float)
    assert isinstance(bits.domain.high, int)


def test_structure_options_have_keys() -> None:
    space = space_of(
        '[structure]\nvalue = "tan-all"\n[structure-option.order]\nchoices = ["random", "A"]\n'
        "[structure-option.step]\nlow = 0.001\nhigh = 1.0\nlog = true",
        "s",
    )
    assert list(space.options) == ["structure", "structure-option.order", "structure-option.step"]


def test_the_digest_is_that_of_what_is_drawn() -> None:
    one = space_of("[bits]\nvalue = 3\n[lr]\nlow = 0.1\nhigh = 1", "one")
    other = space_of("# a note\n[lr]\nlow = 0.1\nhigh = 1.0\n[bits]\nchoices = [3]\n", "other")
    different = space_of("[bits]\nvalue = 3\n[lr]\nlow = 0.1\nhigh = 1\nlog = true", "one")
    assert one.digest == other.digest
    assert one.digest != different.digest
    assert len({read_space(name).digest for name in PRESETS}) == len(PRESETS)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "names no option"),
        ("[oak]\nvalue = 1", "cannot draw 'oak'; it can draw structure,"),
        ("[seed]\nvalue = 1", "cannot draw 'seed'"),
        ("[structure-option.oak]\nvalue = 1", "no structure option 'oak'; there are alpha,"),
        ("structure-option = 1", "needs a key"),
        ("bits = 3", "bits is no table"),
        ("[bits]\nvalue = 2.5", "bits cannot be 2.5; write a whole number"),
        ("[bits]\nvalue = true", "bits cannot be True"),
        ("[float]\nvalue = 1", "write true or false"),
        ("[lr]\nvalue = nan", "lr cannot be nan"),
        ("[lr]\nlow = 0.1\nhigh = inf", "lr cannot be inf"),
        pytest.param("[lr]\nvalue = 1" + 400 * "0", "lr cannot be 10000", id="no float"),
        pytest.param("[bits]\nvalue = " + 5000 * "9", "is no TOML: ", id="too long"),
        ('[lr]\nvalue = "1"', "lr cannot be '1'; write a number"),
        ('[structure]\nvalue = "oak"', "structure cannot be 'oak'; choose chow-liu, naive"),
        ("[bits]\nlow = 3\nhigh = 2", "empty range, 3 to 2"),
        ("[bits]\nlow = 3", "write both low and high"),
        ("[bits]\nhigh = 3", "write both low and high"),
        ("[bits]\nchoices = []", "no list of choices"),
        ("[bits]\nchoices = 3", "no list of choices"),
        ("[bits]\nchoices = [3, 3]", "a choice twice"),
        ("[bits]\nvalue = 3\nchoices = [4]", "one of value, choices, or low and high"),
        ("[bits]\nwhen = {}", "one of value, choices, or low and high"),
        ("[bits]\nvalue = 3\nlog = true", "a log without a range"),
        ("[lr]\nlow = 0\nhigh = 1\nlog = true", "let low be above 0"),
        ("[lr]\nlow = 0\nhigh = 1\nlog = 1", "write true or false"),
        ("[structure-option.order]\nlow = 'A'\nhigh = 'C'", "a range of no numbers"),
        ('[structure]\nlow = "naive"\nhigh = "random"', "a range of no numbers"),
        ("[bits]\nvalue = 3\nwhat = 1", "bits has no 'what'"),
        ("[bits]\nvalue = 3\nwhen = 1", "a 'when' that is no table"),
        ("[bits]\nvalue = 3\nwhen = { lr = 1 }", "asks for lr, which is not drawn before"),
        ("[lr]\nvalue = 1\n[bits]\nvalue = 3\nwhen = { lr = 'a' }", "lr cannot be 'a'"),
        ("lambda = [1]", "lambda is no table"),
        ("lambda = []", "lambda is no table"),
        ("[bits\n", "is no TOML: "),
    ],
)
def test_what_cannot_be_drawn_is_one_sentence(text: str, said: str) -> None:
    with pytest.raises(OptionError) as caught:
        space_of(text, "my.toml")
    assert said in str(caught.value)
    assert "'my.toml'" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_are_read_and_what_is_none_is_told(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("[bits]\nvalue = 3", "utf-8")
    assert read_space(str(path)) == Space({"bits": (Case(Domain((3,)), {}),)})
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(OptionError, match="cannot be read as text"):
        read_space(str(path))
    path.write_bytes(b"#" * 1_000_001)
    with pytest.raises(OptionError, match="too large"):
        read_space(str(path))
    for absent in (tmp_path / "no.toml", tmp_path):
        with pytest.raises(OptionError, match="choose default, s0-setting-1, s0-setting-2, or"):
            read_space(str(absent))


def test_every_option_but_two_is_of_training() -> None:
    from bncc.cli.train import command

    known = {name for parameter in command.params for name in parameter.opts}
    assert {f"--{name}" for name in OPTIONS} - known == {"--optimize", "--classifier"}
