"""What the figures of a report are, in words."""

METHODS = (
    (
        "Selection",
        "Models are compared and chosen by their error on validation rows, which training held "
        "out, the mean over the seeds of a trial. Test rows choose nothing; their error is told "
        "beside it.",
    ),
    (
        "Interval",
        "Wilson's interval of 95 %, with the number of validation rows summed over the seeds. Rows "
        "are taken as independent, with --groups and --ordered too, so that it is too narrow "
        "there. It holds for one trial; the best of many looks better than it is, and the test "
        "error says by how much.",
    ),
    (
        "Pareto front",
        "A trial is on the front if every trial that costs no more errs more. A step is marked as "
        "sure if the upper end of its interval lies below the mean error of the sure step before "
        "it, and the first step is. Trials are judged on the same rows: it is a rule of thumb, no "
        "test.",
    ),
    (
        "Hypervolume",
        "The share of a box that a family's front dominates, 0 to 100 %: errors from 0 to the "
        "largest of all trials, the logarithm of the cost from the least to the largest of all "
        "trials of the study on that machine. It depends on which trials were run.",
    ),
    (
        "Flash, RAM, stack",
        "Bytes of the entry points that are named, compiled for the machine, with every library "
        "routine that they pull in, as bncc bench reports them. The stack is apart from RAM.",
    ),
    (
        "Instructions, cycles",
        "The mean of executed instructions per call of the slowest entry point that is named, on "
        "a simulator, cycles on AVR. Call and return count. predict takes states; predict_raw "
        "takes readings. The largest is that of the inputs tried, not a bound.",
    ),
    (
        "Operations",
        "Additions of a decision: C (D + 1) for C classes and D features, each with the table "
        "entry that it reads. There are no multiplications.",
    ),
    (
        "Table bits",
        "Bits of all table entries and the prior, before the compiler's passes, which store fewer.",
    ),
)
"""Heads and texts."""
