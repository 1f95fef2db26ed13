"""The workshop behind the films.

`film` says what to show, `script` what is said of it, `phrases` what several films say alike. From data to
pixels, each step a pure function of (trace, time): `theme` colours, `layout` boxes, `pace` film time to
trace time, `tiles`, `lanes` and `blocks` rasters, `glyphs` live text. `words` makes vectors for what stands
still: `backdrop`, `legend`, `opening` and the end `card`. `picture` puts it all together into a `reel`.
`stage` shows that on one Manim scene, whose one mobject is the `canvas`, and `writing` has Manim write it;
`export` writes the file without Manim, by `coding`.

A film of the kernel ladder is made by `climb` and put together by `climb_picture`: `bars` draws its steps as
bars, `roof` under a roofline. `timing` and `sprites` serve all films.
"""
