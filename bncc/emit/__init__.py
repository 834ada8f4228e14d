"""A lowered program to C99, through templates."""
