"""Numbers agree with their nouns, and comments end by column 100."""

from bncc.lower.c.c99 import comment, counted


def test_one_is_singular():
    assert [counted(n, "bit") for n in (0, 1, 2)] == ["0 bits", "1 bit", "2 bits"]


def test_long_sentences_are_broken_behind_the_mark_of_a_comment():
    text = comment("word " * 40)
    lines = f"/* {text} */".splitlines()
    assert len(lines) == 3
    assert all(len(line) <= 100 for line in lines)
    assert [line[:7] for line in lines] == ["/* word", " * word", " * word"]


def test_line_ends_are_blanks_and_long_words_stay_whole():
    assert comment("of\n  two\n") == "of two"
    assert comment("x" * 120 + " y") == "x" * 120 + "\n * y"
