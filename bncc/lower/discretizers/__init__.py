"""Discretizers: how a raw reading finds its state, and what each way costs."""
