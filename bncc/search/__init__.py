"""Search for the best classifier in a budget: families and sizes compared on validation rows."""
