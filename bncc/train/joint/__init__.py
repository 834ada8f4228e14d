"""Joint gradient descent on structure and tables (S0)."""
