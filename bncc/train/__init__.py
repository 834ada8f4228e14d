"""From states and a structure to log-probability tables: counts, or gradients in torch."""
