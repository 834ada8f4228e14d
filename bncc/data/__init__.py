"""Tables of readings: reading, typing and splitting them."""
