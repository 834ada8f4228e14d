"""What builds and runs C on this machine: compilers, simulators, how they are called."""
