"""C text: names, numbers, comments and constant arrays."""
