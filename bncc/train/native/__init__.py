"""The training step in C, built for this machine when it is first needed."""
