"""The workshop behind the films.

data -> pixels, each a pure function of (trace, time): `theme` colours, `layout` boxes, `pace` film time to
trace time, `tiles` `lanes` `blocks` rasters, `glyphs` live text. `words` makes Manim's vectors for what
stands still, `stage` puts both on one Manim scene, `film` says what to show and `export` writes the file.
"""
