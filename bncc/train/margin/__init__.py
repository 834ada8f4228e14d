"""Maximum-margin parameters (S1)."""
