"""Toolchains, simulators, harness and measurement: emitted C on this computer and on targets."""
