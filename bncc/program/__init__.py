"""Programs, the passes that rewrite them, and the proofs that they stay the same classifier."""
