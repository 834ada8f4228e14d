"""Learning directed acyclic graphs in which the class is a variable like any other."""
