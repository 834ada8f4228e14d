"""Looped kernel of cuts."""
