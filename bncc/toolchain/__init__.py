"""Compilers and simulators that build and run C on this computer."""
