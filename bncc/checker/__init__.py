"""Independent checker of certificates; it shares no code with the compiler or the prover."""
