"""The fixture ``grows`` for pytest: `knee.grows`, with a budget by marker, and a line for each verdict in the summary."""

from __future__ import annotations

import pytest

import knee

_JUDGEMENTS = pytest.StashKey[list]()
_SAMPLES = pytest.StashKey[list]()


def pytest_addoption(parser):
    group = parser.getgroup("knee")
    group.addoption("--knee-html", metavar="FILE", help="write the report of all functions that were timed")


def pytest_configure(config):
    config.stash[_JUDGEMENTS] = []
    config.stash[_SAMPLES] = []
    config.addinivalue_line("markers", "grows(budget_s): seconds that a test's functions may be timed")


@pytest.fixture
def grows(request):
    """`knee.grows`; the marker ``grows(budget_s=…)`` sets the budget of a test."""
    marker = request.node.get_closest_marker("grows")
    timed = []

    def begin(function, over, **options):
        options.setdefault("name", request.node.name)
        growth = _Recorded(knee.grows(function, over, **{**(marker.kwargs if marker else {}), **options}), request)
        timed.append(growth)
        return growth

    yield begin
    for number, growth in enumerate(timed, 1):
        # A series each: two functions of a test, or two tests of a name, are not one.
        series = f"{request.node.nodeid} {number}" if len(timed) > 1 else request.node.nodeid
        request.config.stash[_SAMPLES].extend({**sample, "series": series} for sample in growth.samples)


class _Recorded:
    """A growth whose judgements are kept for the summary."""

    def __init__(self, growth, request):
        self._growth = growth
        self._request = request

    @property
    def samples(self):
        return self._growth.samples

    def at_most(self, limit, *, strict=False):
        kept = self._request.config.stash[_JUDGEMENTS]
        try:
            judgement = self._growth.at_most(limit, strict=strict)
        except knee.Exceeded as exceeded:
            kept.append(str(exceeded))
            raise
        kept.append(judgement.sentence)
        return judgement


def pytest_terminal_summary(terminalreporter, config):
    judgements = config.stash[_JUDGEMENTS]
    if judgements:
        terminalreporter.section("growth")
        for sentence in judgements:
            terminalreporter.write_line(sentence)
    page = config.getoption("--knee-html")
    if page and config.stash[_SAMPLES]:
        ended = knee.run_knee(["analyse", "--quiet", "-o", page, "-"], config.stash[_SAMPLES])
        terminalreporter.write_line(ended.stderr.strip() if ended.returncode else f"growth: {page}")
