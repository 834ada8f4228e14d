"""Simulators that run a program for another processor: bytes in, bytes out."""
