"""What lessons are made of: the base class, words, and pictures that at least two films use."""
