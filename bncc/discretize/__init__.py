"""Raw readings to states: cut points learned on training rows, kept in the sensor's own units."""
