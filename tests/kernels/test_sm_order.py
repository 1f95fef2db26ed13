"""What is made of which SM got which thread block."""

import numpy as np
import on_device  # noqa: F401
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilesim.devices.facts import fill_order
from tilesim_kernels import KernelError
from tilesim_kernels.bench import sm_order

BIG, SMALL = [[0, 1, 6, 7], [2, 3, 8, 9], [4, 5]], [[10, 11], [12, 13]]


@st.composite
def models(draw):
    """Tiers of groups of SMs; within a tier the group with the lowest SM is first."""
    sizes = draw(st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=4), min_size=1, max_size=3))
    sms = draw(st.permutations(range(sum(map(sum, sizes)))))
    made = []
    for tier in sizes:
        groups = [[sms.pop() for _ in range(size)] for size in tier]
        made.append(sm_order._from_lowest(groups))
    return made


def every_order(model):
    """All that the model can give, as (first, order)."""
    firsts = [()]
    for groups in model:
        firsts = [(*first, group[0]) for first in firsts for group in groups]
    return [(first, list(fill_order(model, first))) for first in firsts]


@given(models(), st.data())
def test_an_order_tells_where_it_began_if_the_model_can_give_it(model, data):
    for first, order in every_order(model):
        assert sm_order.begins(order, model) == first
    given_by_model = [order for _, order in every_order(model)]
    order = data.draw(st.permutations(given_by_model[0]))
    assert (sm_order.begins(order, model) is not None) == (order in given_by_model)


@given(models(), st.randoms())
def test_groups_come_back_from_their_orders(model, random):
    """But tiers of one group are joined: nothing tells them apart, and they explain the same orders."""
    orders = [order for _, order in every_order(model)]
    random.shuffle(orders)
    found = sm_order.tiers(orders)
    assert sorted(order for _, order in every_order(found)) == sorted(orders)
    if all(len(groups) > 1 for groups in model):
        assert found == model


@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=1))
def test_groups_joined_by_clusters_are_disjoint_and_hold_each_cluster(clusters):
    found = sm_order.joined(np.array(clusters))
    assert len({sm for group in found for sm in group}) == sum(map(len, found))
    assert all(len(group) > 1 and group == sorted(group) for group in found)
    for cluster in clusters:
        assert len(set(cluster)) == 1 or sum(set(cluster) <= set(group) for group in found) == 1


def test_sms_that_are_not_filled_evenly_have_no_order():
    with pytest.raises(KernelError, match="4 thread blocks should fill 2 SMs evenly, and went to 2"):
        sm_order.places(np.array([0, 0, 0, 1]), 2)


def test_a_tally_counts_what_is_alike_and_what_is_explained():
    model = [SMALL, BIG]
    usual, other = list(fill_order(model)), list(fill_order(model, (12, 4)))
    strange = usual[::-1]
    runs = [[usual, usual], [usual, usual], [other, other], [usual, other], [strange, strange]]
    first = [[[10, 0], 2], [[12, 4], 1]]
    assert sm_order.tally(runs, model) == {"launches": 5, "alike": 2, "explained": 3, "first": first}
