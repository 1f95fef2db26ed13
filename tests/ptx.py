"""Inline PTX on NumPy, for kernels in Triton's interpreter: all threads of a block in step.

It knows what a tree in shared memory needs: 32-bit integers, fp32, predicates, branches that all threads
take alike. Shared memory and registers are full of NaN before they are written. It sees races: between two
barriers a word that one thread writes may be read and written by no other.
"""

import ctypes
import re
from collections.abc import Callable
from typing import Any

import numpy as np

BANKS = 32
"""Of shared memory, each a word wide; as many as a warp has lanes."""

NOBODY, SEVERAL = -1, -2

STATEMENT = re.compile(r"(?:@(?P<guard>\w+)\s+)?(?P<op>[a-z][\w.]*)\s*(?P<operands>.*)", re.DOTALL)
WHOLE: dict[str, Callable[..., np.ndarray]] = {
    "mov.u32": lambda a: a,
    "mul.lo.u32": np.multiply,
    "mad.lo.u32": lambda a, b, c: a * b + c,
    "shl.b32": np.left_shift,
    "shr.u32": np.right_shift,
    "setp.lt.u32": np.less,
    "setp.eq.u32": np.equal,
    "setp.ne.u32": np.not_equal,
}


class Block:
    """The threads of one block, and `ways`: of each access to shared memory, the lanes of each warp with
    addresses in it that shared a bank, a list of one count a warp.
    """

    def __init__(self, operands: list[np.ndarray], threads: int) -> None:
        self.tid = np.arange(threads)
        self.values = {f"${i + 1}": np.broadcast_to(x, threads) for i, x in enumerate(operands)}
        self.values["%tid.x"] = self.tid.astype(np.uint32)
        self.shared = np.empty(0, np.uint32)
        self.ways: list[list[int]] = []

    def run(self, asm: str) -> "Block":
        """Run assembly whose one output, $0, nobody reads."""
        texts = [text.strip() for text in re.split(r";|(?<=:)\s", asm.strip().strip("{}"))]
        labels = {text[:-1]: at for at, text in enumerate(texts) if text.endswith(":")}
        self._forget()
        at = 0
        while at < len(texts):
            text, at = texts[at], at + 1
            if text.startswith(".shared"):
                self._declare(text)
            elif text and not text.endswith(":") and not text.startswith(".reg"):
                label = self._step(**STATEMENT.fullmatch(text).groupdict())
                at = labels[label] if label else at
        return self

    def _declare(self, text: str) -> None:
        name, words = re.search(r"\.b32 (\w+)\[(\d+)\]", text).groups()
        self.shared = np.full(int(words), 0xFFFFFFFF, np.uint32)
        self.values[name] = np.zeros(len(self.tid), np.uint32)
        self._forget()

    def _forget(self) -> None:
        """What a barrier does to who touched what."""
        self.read_by = np.full(len(self.shared), NOBODY)
        self.written_by = np.full(len(self.shared), NOBODY)

    def _step(self, guard: str | None, op: str, operands: str) -> str | None:
        """One instruction of all threads that `guard` lets through; the label to go to, if any."""
        on = self.values[guard] if guard else np.ones(len(self.tid), bool)
        names = [name.strip("[] \n") for name in operands.split(",")]
        if op == "bra":
            assert on.all() or not on.any(), "threads part at a branch"
            return names[0] if on.any() else None
        if op == "bar.sync":
            assert on.all(), "a barrier that not all threads reach"
            self._forget()
        elif op == "st.shared.f32":
            at = self._words(names[0], on)
            self._alone(self.read_by, at, on)
            self._alone(self.written_by, at, on)
            assert len(set(at)) == len(at), "two threads write one word"
            self.written_by[at] = self.tid[on]
            self.shared[at] = self._value(names[1])[on]
        elif op == "ld.shared.f32":
            at = self._words(names[1], on)
            self._alone(self.written_by, at, on)
            others = (self.read_by[at] != NOBODY) & (self.read_by[at] != self.tid[on])
            self.read_by[at] = np.where(others, SEVERAL, self.tid[on])
            self._set(names[0], on, self.shared[at])
        elif op == "st.global.f32":
            for address, word in zip(self._value(names[0])[on], self._value(names[1])[on], strict=True):
                ctypes.c_uint32.from_address(int(address)).value = int(word)
        elif op == "add.f32":
            a, b = (self._value(name)[on].view(np.float32) for name in names[1:])
            self._set(names[0], on, (a + b).view(np.uint32))
        elif names[0] != "$0":
            self._set(names[0], on, WHOLE[op](*(self._value(name)[on] for name in names[1:])))
        return None

    def _value(self, name: str) -> np.ndarray:
        if name.isdecimal():
            return np.full(len(self.tid), int(name), np.uint32)
        return self.values[name]

    def _set(self, name: str, on: np.ndarray, made: np.ndarray) -> None:
        before = self.values.get(name, np.full(len(self.tid), 0xFFFFFFFF, np.uint32).astype(made.dtype))
        self.values[name] = before.copy()
        self.values[name][on] = made

    def _alone(self, who: np.ndarray, at: np.ndarray, on: np.ndarray) -> None:
        """Fail where another thread touched a word since the last barrier."""
        assert ((who[at] == NOBODY) | (who[at] == self.tid[on])).all(), "a race between two threads"

    def _words(self, name: str, on: np.ndarray) -> np.ndarray:
        """The words of shared memory at the addresses in a register, whose bank conflicts are noted."""
        at = self._value(name)[on] // 4
        warps = self.tid[on] // BANKS
        banks = [np.unique(at[warps == warp]) % BANKS for warp in np.unique(warps)]
        self.ways.append([int(np.bincount(each).max()) for each in banks])
        return at


def source(asm: Any) -> str:
    """Assembly as a text, which kernels also hold as a constexpr."""
    return getattr(asm, "value", asm)


def inline_asm(seen: list[Block], threads: int) -> Callable[..., None]:
    """What takes the place of tl.inline_asm_elementwise; the blocks that ran are in `seen`."""

    def run(asm: Any, constraints: str, args: list, **options: object) -> None:
        operands = [arg.handle.data for arg in args]
        words = [x.view(np.uint32) if x.dtype == np.float32 else x for x in operands]
        seen.append(Block(words, threads).run(source(asm)))

    return run
