"""The renderer of tables: figures to the right, words to the left, and what is missing."""

from tilesim.cli.output.tables import markdown, text

COLUMNS = "size {m}x{n} | kernel | µs {us:.1f} | of peak {share:.0%} | DRAM MB {dram[*]:.0f/1e6}"
ROWS = [
    {"m": 8, "n": 16, "kernel": "naive", "us": 9.54, "share": 0.5}
    | {"dram": {"p20": 2e9, "p50": 2.5e9, "p80": 3e9}},
    {"m": 8, "n": 1024, "kernel": None, "us": 1210.5, "share": 1},
]


def test_lines_for_the_command_line():
    assert text(ROWS, COLUMNS) == [
        "size    kernel      µs  of peak      DRAM MB          p20          p80",
        "8x16    naive      9.5      50%         2500         2000         3000",
        "8x1024          1210.5     100%  not counted  not counted  not counted",
    ]
    assert text([], "size {m} | µs {us}") == ["size  µs"]


def test_the_same_cells_for_a_page():
    head, rule, *rows = markdown(ROWS, COLUMNS).splitlines()
    assert head == "| size | kernel | µs | of peak | DRAM MB | p20 | p80 |"
    assert rule == "| --- | --- | ---: | ---: | ---: | ---: | ---: |"
    assert rows == [
        "| 8x16 | naive | 9.5 | 50% | 2500 | 2000 | 3000 |",
        "| 8x1024 |  | 1210.5 | 100% | not counted | not counted | not counted |",
    ]
