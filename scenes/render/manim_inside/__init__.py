"""What is built on the inside of Manim 0.22: how it draws, keeps and hands on frames."""
