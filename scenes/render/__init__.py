"""Rendering: any Manim scene, drawn and converted only where it changes.

`IncrementalRenderer` takes the place of Manim's CairoRenderer, and takes the same arguments:

    class Film(MovingCameraScene):                      # a scene that always renders so
        def __init__(self, renderer=None, camera_class=MovingCamera, **settings):
            renderer = renderer or IncrementalRenderer(camera_class=camera_class)
            super().__init__(renderer=renderer, camera_class=camera_class, **settings)

    scene = made(AnyScene)                              # any other scene, as AnyScene() makes it
    scene = made(AnyScene, MyRenderer)                  # with a subclass of IncrementalRenderer
    scene.render()

What whoever takes the frames needs of the renderer:

- `renderer.camera.pixel_array`: the frame, uint8, [height, width, 4], drawn over in place by the next one;
- `renderer.changed`: a list of Pixels, the rectangles (left, top, width, height) in which this frame differs
  from the one handed on before; empty where it does not, the whole frame where that is not known;
- `renderer.hand_on(repeat)`: called once for each frame that is drawn, to be shown `repeat` times. A subclass
  that encodes by itself overrides it; as it stands, the frame goes to Manim's file writer;
- `renderer.before(repeat)`: called before each frame is drawn; a subclass may set `drawing` here;
- `renderer.drawing`: while False, nothing is drawn or handed on, but for what stands still at the start of
  each play; time advances and `renderer.frames` counts the frames as if they were. Once it is True again, mid
  play too, the frames are as if it had always been so. `changed` of the next frame is against the last one
  handed on;
- `renderer.frames`: how many frames were handed on or would have been, each as often as it is repeated.

`planes` converts the rectangles of a frame that changed to the encoder's format, for Manim and for ours.

The frames are those of Manim, byte for byte, and so is what `manim render` writes. All that is built on
Manim's inside stands in `manim_inside`, which knows Manim 0.22. With any other version KNOWN is False,
`IncrementalRenderer` is Manim's CairoRenderer and `made` makes scenes with it, after one warning.
"""

from tilesim_scenes.render.dirty import Pixels
from tilesim_scenes.render.manim_inside import KNOWN, IncrementalRenderer, made

__all__ = ["KNOWN", "IncrementalRenderer", "Pixels", "made"]
