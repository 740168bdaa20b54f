"""Assert how the cost of a function grows.

    import knee
    knee.grows(sorted, over=[1_000, 10_000, 100_000], setup=shuffled).at_most("linearithmic")

The function is timed at each point, in rounds that take the points in turns, and the program `knee` judges the samples
(`knee judge`): the one that was installed with this module, or the one that the environment variable KNEE names.
"""

from __future__ import annotations

import asyncio
import gc
import inspect
import json
import os
import subprocess
import sysconfig
import time
from dataclasses import dataclass
from typing import Any, Callable, Sequence

__all__ = ["Exceeded", "Growth", "Judgement", "grows"]

#: A batch of calls takes at least this long, so that the clock's resolution and its own cost do not count.
BATCH_NS_MIN = 200_000
#: Rounds before the first judgement: one round shows no spread.
ROUNDS_MIN = 3
#: Rounds after which nothing is added, whatever the budget.
ROUNDS_MAX = 30


class Exceeded(AssertionError):
    """The cost grows faster than the limit; with ``strict``, it may."""


@dataclass(frozen=True)
class Judgement:
    """What knee said of a function."""

    #: ``holds``, ``fails`` or ``open``.
    verdict: str
    #: The verdict with the factor, its 95 % CI and the growth class.
    sentence: str
    #: The growth as `knee judge --json` writes it.
    growth: dict[str, Any]
    #: Rounds that were measured.
    rounds: int


def grows(
    function: Callable[..., Any],
    over: Sequence[int],
    *,
    setup: Callable[[int], Any] | None = None,
    fresh: bool = False,
    budget_s: float = 2.0,
    name: str | None = None,
) -> Growth:
    """The cost of ``function`` over the points ``over``, to be held against a limit.

    ``setup(n)`` makes the argument of the function outside of the timed region, once a point; ``fresh`` makes a new one
    for each call, for functions that change it. Without ``setup`` the argument is the point itself. Coroutine functions
    are awaited. Rounds are added while the verdict is open and ``budget_s`` seconds are not used up.
    """
    points = sorted(set(over))
    if len(points) < 2 or points[0] < 0:
        raise ValueError("over: name two points or more, 0 or above; three tell how a cost grows")
    if inspect.iscoroutinefunction(function):
        loop = asyncio.new_event_loop()
        coroutine = function

        def function(argument: Any) -> Any:
            return loop.run_until_complete(coroutine(argument))

        function.__name__ = coroutine.__name__
    return Growth(function, points, setup or (lambda n: n), fresh, budget_s, name)


class Growth:
    """A function with its points; each limit is measured when it is asserted."""

    def __init__(self, function, points, setup, fresh, budget_s, name) -> None:
        self.name = name or getattr(function, "__name__", "cost")
        self._function = function
        self._points = points
        self._setup = setup
        self._fresh = fresh
        self._budget_s = budget_s
        self._arguments = None if fresh else {point: setup(point) for point in points}
        self._calls: dict[int, int] = {}
        self._rounds = 0
        #: Samples so far, each a line for `knee judge`.
        self.samples: list[dict[str, Any]] = []

    def at_most(self, limit: str, *, strict: bool = False) -> Judgement:
        """Measures until it is clear whether the cost keeps to ``limit``, and raises `Exceeded` where it does not.

        ``limit`` is constant, logarithmic, square-root, linear, linearithmic (n log n) or quadratic. What stays open
        passes, with the verdict ``open``; with ``strict`` it raises, too.
        """
        end = time.monotonic() + self._budget_s
        while True:
            while self._rounds < ROUNDS_MIN:
                self._round()
            judgement = _judge(self.samples, limit, self._rounds)
            is_over = time.monotonic() >= end or self._rounds >= ROUNDS_MAX
            if judgement.verdict != "open" or is_over:
                break
            # As many again: an interval is halved by four times as many.
            for _ in range(self._rounds):
                if time.monotonic() < end and self._rounds < ROUNDS_MAX:
                    self._round()
        if judgement.verdict == "fails" or (strict and judgement.verdict == "open"):
            raise Exceeded(judgement.sentence)
        return judgement

    def _round(self) -> None:
        # Forwards and backwards in turns: what gets slower by and by is not taken for growth.
        points = self._points if self._rounds % 2 == 0 else reversed(self._points)
        for point in points:
            value = self._once_each(point) if self._fresh else self._batch(point)
            self.samples.append(
                {"series": self.name, "point": point, "round": self._rounds, "value": value, "unit": "ns"}
            )
        self._rounds += 1

    def _batch(self, point: int) -> float:
        """Nanoseconds a call, of as many calls as the clock asks for."""
        argument = self._arguments[point]
        while True:
            calls = self._calls.setdefault(point, 1)
            elapsed_ns = self._timed(argument, calls)
            if elapsed_ns >= BATCH_NS_MIN or calls >= 1 << 20:
                return elapsed_ns / calls
            self._calls[point] = calls * max(2, min(16, BATCH_NS_MIN // max(1, elapsed_ns) + 1))

    def _once_each(self, point: int) -> float:
        """Nanoseconds a call, each with an argument of its own."""
        calls, elapsed_ns = 0, 0
        while elapsed_ns < BATCH_NS_MIN and calls < 64:
            elapsed_ns += self._timed(self._setup(point), 1)
            calls += 1
        return elapsed_ns / calls

    def _timed(self, argument: Any, calls: int) -> int:
        function, repeat = self._function, range(calls)
        was_enabled = gc.isenabled()
        gc.collect(0)
        gc.disable()
        try:
            start = time.perf_counter_ns()
            for _ in repeat:
                function(argument)
            return time.perf_counter_ns() - start
        finally:
            if was_enabled:
                gc.enable()


def run_knee(arguments: Sequence[str], samples: Sequence[dict[str, Any]]) -> subprocess.CompletedProcess[str]:
    """`knee` with these arguments and the samples on its standard input."""
    installed = os.path.join(sysconfig.get_path("scripts"), "knee")
    program = os.environ.get("KNEE") or (installed if os.path.exists(installed) else "knee")
    lines = "".join(json.dumps(sample) + "\n" for sample in samples)
    try:
        return subprocess.run([program, *arguments], input=lines, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise RuntimeError(f"there is no program {program}; install knee, or name it by KNEE") from None


def _judge(samples: list[dict[str, Any]], limit: str, rounds: int) -> Judgement:
    """What `knee judge` says of one series."""
    ended = run_knee(["judge", "--json", "--at-most", limit], samples)
    if ended.returncode not in (0, 3, 4):
        raise ValueError(ended.stderr.strip() or f"knee judge ended with {ended.returncode}")
    judged = json.loads(ended.stdout)["series"][0]
    return Judgement(judged["verdict"], judged["sentence"], judged["growth"], rounds)
