"""Sums of small tables over cuts of features: grown by boosting, refitted together as integers."""
