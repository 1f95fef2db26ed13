"""Spans: the rows of a trace, their rules, and what a recorder's timestamps do not contain."""
