"""Learning log-probability tables from states and a structure: counts, or gradient descent."""
