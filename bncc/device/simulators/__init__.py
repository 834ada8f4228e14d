"""Simulators that run a program for another machine: bytes in, bytes out."""
