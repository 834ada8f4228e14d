"""Search for the best classifier within a budget, over families and sizes, on validation rows."""
