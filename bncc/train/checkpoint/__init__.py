"""Checkpoints of long trainings: snapshots, their files, and the callbacks that write them."""
