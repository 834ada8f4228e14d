"""The best classifier for a budget: families and sizes tried on rows held out."""
