"""Packed kernel of cuts."""
