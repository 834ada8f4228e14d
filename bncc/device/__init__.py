"""Toolchains, simulators, harness and measurement: emitted C on this machine and on targets."""
