"""Persistent: what changes when thread blocks stay on their SMs and loop over tiles?"""

import numpy as np

from tilesim import Device, Problem, Trace, simulate
from tilesim.metrics import splits_tiles
from tilesim_scenes.animations.run import Run
from tilesim_scenes.film.one_run import OneRunFilm
from tilesim_scenes.film.traces import Default, FilmError
from tilesim_scenes.mobjects.traces.time_bracket import TimeBracket
from tilesim_scenes.story.traces import persistent_words as words
from tilesim_scenes.story.traces.one_run import OneRun, tell
from tilesim_scenes.story.traces.runs import is_persistent

FILM = {
    "title": "Persistent",
    "question": "What if thread blocks stayed?",
    "part": "Schedules",
    "place": 140,
    "seconds": 33,
    "shows": "Thread blocks that stay, loop over tiles and write under the next one; and how much of "
    "that is useful work.",
    "takes": "traces",
}


class Persistent(OneRunFilm):
    """18 tiles on 4 SMs with the H200's costs, unless asked otherwise."""

    default = Default(("persistent",), Problem(384, 1536, 512), Device.named("h200", sms=4))

    @staticmethod
    def check_blocks(trace: Trace) -> None:
        """Raise FilmError where thread blocks queue for a free SM, or nothing tells which rows are of one."""
        if is_persistent(trace) or len(trace.spans) > len(np.unique(trace.spans["cta"])):
            return
        if "cta" in trace.meta.get("derived", ()):
            raise FilmError(
                "the film persistent shows blocks that take tile after tile, and the trace of "
                f"{trace.schedule} does not say which rows are of one thread block; add the column cta"
            )
        raise FilmError(
            f"the film persistent shows blocks that stay on their SMs, and those of {trace.schedule} "
            f"queue for a free one; the film {'race' if splits_tiles(trace) else 'naive'} shows them"
        )

    def construct(self) -> None:
        (trace,) = self.traces
        story = tell(trace)
        other = self.one_block_a_tile()
        self.longest = max(trace.makespan, other.makespan if other else 0)
        self.title(words.title())
        if story.few:
            blocks = sorted(set(trace.spans["cta"].tolist()))
            self.room_for_few()
            self.from_tiles(blocks, words.blocks(trace))
            self.deal(words.room(trace))
            self.unroll(story)
            self.first_tile(story, words.ticks(trace))
            if story.pause is not None:
                until = max(story.pause.end, story.pause.done) + 0.25 * story.pause.length
                self.pause_of_few(story, until, words.pause(story), words.inside(story))
            self.whole_of_few(story, words.whole(story))
            self.gap(story)
        else:
            self.many(story, words.room(trace), words.pause(story), words.inside(story), words.whole(story))
        naive = tell(other) if other else None
        sentence = (words.against(story, naive) if naive else "") or words.finding(story)
        self.end(story, sentence, words.number(story), words.aside(naive) if naive else "")

    def one_block_a_tile(self) -> Trace | None:
        """The same product with a thread block for each tile, so that both films of the pair have one scale.

        None where the run was not made here with its device's own costs.
        """
        (trace,) = self.traces
        if {"trace", "costs"} & set(self.given) or splits_tiles(trace):
            return None
        return simulate("naive", trace.problem, trace.device, seed=self.given.get("seed", 0))

    def gap(self, story: OneRun) -> None:
        """How much earlier it ends."""
        if self.longest <= story.trace.makespan:
            return
        bracket = TimeBracket(self.lanes, story.trace.makespan, self.longest, text="", below=True)
        self.say(words.beside(story, self.longest))
        self.play(Run(bracket, until=self.longest, run_time=1.0))
