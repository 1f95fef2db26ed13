"""Small models of the ideas that films explain: pure functions in ns and bytes, with their sources."""
