"""The two steps that take the time, in C: the best cut, and an epoch of the descent."""
