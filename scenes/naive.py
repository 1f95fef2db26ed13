"""Naive: which thread block computes which tile, and what does each change of blocks cost?"""

import numpy as np

from tilesim import Device, Problem, Trace
from tilesim.metrics import splits_tiles
from tilesim_scenes.film.one_run import OneRunFilm
from tilesim_scenes.film.recap import recap
from tilesim_scenes.film.traces import Default, FilmError
from tilesim_scenes.story.traces import naive_words as words
from tilesim_scenes.story.traces.one_run import tell
from tilesim_scenes.story.traces.runs import is_persistent

FILM = {
    "title": "Naive",
    "question": "Who computes which tile?",
    "part": "Schedules",
    "place": 130,
    "seconds": 32,
    "shows": "One thread block for each tile. Between two tiles an SM writes, waits for a launch and "
    "loads; nothing multiplies.",
    "takes": "traces",
}


class Naive(OneRunFilm):
    """18 tiles on 4 SMs with the H200's costs, unless asked otherwise."""

    default = Default(("naive",), Problem(384, 1536, 512), Device.named("h200", sms=4))

    @staticmethod
    def check_blocks(trace: Trace) -> None:
        """Raise FilmError where thread blocks do not compute one whole tile each."""
        if splits_tiles(trace):
            raise FilmError(
                f"the film naive shows blocks of one tile each, and those of {trace.schedule} share tiles; "
                f"the film {'persistent' if is_persistent(trace) else 'race'} shows them"
            )
        if len(trace.spans) > len(np.unique(trace.spans["cta"])):
            raise FilmError(
                f"the film naive shows blocks of one tile each, and those of {trace.schedule} have several; "
                "the film persistent shows them"
            )

    def construct(self) -> None:
        (trace,) = self.traces
        story = tell(trace)
        self.longest = trace.makespan
        self.title(words.title())
        if story.few:
            recap(self, trace, words.ticks(trace))
            self.room_for_few()
            self.from_tiles(range(trace.problem.tiles), words.blocks(trace))
            self.deal(words.room(trace))
            self.unroll(story)
            if story.pause is not None:
                self.run_to(story.pause.begin, 1.5)
                until = story.pause.end + 0.25 * story.pause.length
                self.pause_of_few(story, until, words.pause(story), words.inside(story))
            self.whole_of_few(story, words.whole(story))
        else:
            self.many(story, words.room(trace), words.pause(story), words.inside(story), words.whole(story))
        self.end(story, words.finding(story), words.number(story))
