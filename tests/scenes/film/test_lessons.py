"""Lessons make no claims about other data than their own, and can leave out the picture of the work."""

import pytest
from prepared import prepared
from watching import watch

from tilesim.cli.packages import scene_class
from tilesim_scenes.race import Race


@pytest.mark.parametrize("name", ["busy-sms", "naive", "persistent", "race", "stream-k"])
def test_data_of_one_s_own_leads_to_the_neutral_film(name):
    lesson = scene_class(name)
    scene = prepared(lesson, {"sms": 4, "m": 384, "n": 1536})
    assert isinstance(scene, lesson.neutral) and not isinstance(scene, lesson)
    assert scene.traces[0].problem.m == 384 and len(scene.traces) == len(lesson.default.schedules)


def test_the_picture_of_the_work_can_be_left_out():
    with_it, without = (watch(Race, "wide", {"work": work}).scene for work in (True, False))
    assert with_it.now - without.now > 3
    assert set(without.captions) != set(with_it.captions)
    assert {one.text for one in without.captions} < {one.text for one in with_it.captions}
