"""Pipelines: loads, products and writes that go on at the same time, and whose turn it is."""
