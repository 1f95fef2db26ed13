"""Spans: the rows of a trace, the rules that they keep, and what a recorder's stamps leave open."""
