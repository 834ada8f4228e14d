"""Program to kernel: the ways to compute a decision, each with the proof that it is exact."""
