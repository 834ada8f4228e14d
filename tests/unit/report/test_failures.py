"""Failed trials are grouped by reason, and every one is named."""

from bncc.report.failures import failures_of


def test_reasons_are_grouped_the_most_frequent_first() -> None:
    found = failures_of({7: "no cut.", 2: "memory", 5: "no cut.", 6: "no cut.", 9: "no cut."})
    assert [failure.sentence for failure in found] == [
        "4 trials: no cut (trials 5 to 7, 9)",
        "1 trial: memory (trial 2)",
    ]


def test_reasons_that_differ_in_figures_are_one_group() -> None:
    (found,) = failures_of({3: "needs 70,112 bytes of 32,768", 4: "needs 9 bytes of 8"})
    assert found.numbers == (3, 4)
    assert found.sentence == ("2 trials: for example needs 70,112 bytes of 32,768 (trials 3, 4)")


def test_equal_reasons_are_no_examples() -> None:
    (found,) = failures_of({3: "bits 9", 4: "bits 9"})
    assert "for example" not in found.sentence


def test_a_trial_without_a_reason_is_named() -> None:
    assert failures_of({1: ""})[0].sentence == "1 trial: no reason is recorded (trial 1)"


def test_control_characters_are_escaped() -> None:
    assert failures_of({1: "a\x1b[31m"})[0].reason == "a\\x1b[31m"


def test_without_failures_there_is_no_group() -> None:
    assert failures_of({}) == ()
