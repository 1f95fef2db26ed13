"""Storage: files that appear complete or not at all, strict JSON, scratch folders, the native trace file."""
