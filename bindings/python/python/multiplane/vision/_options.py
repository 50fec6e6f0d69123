"""Options of the commands that several files know; nothing here needs the optional packages."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

from multiplane.vision._errors import VisionError

Kind = TypeVar("Kind")

OPTIONS = ("superpixels", "threshold", "ignore", "side", "words", "seed")
"""Options of ``graph`` that a file remembers."""

WORDS = 60
"""Visual words at each scale, where nothing else is said."""

MOST_JOBS = 1024
"""More processes than this are a slip of the hand."""


def check_ranges(settings: Any, ranges: dict[str, tuple[int, int]]) -> None:
    """Raises ``VisionError`` for settings that are no whole numbers, or out of their ranges."""
    for name, (low, high) in ranges.items():
        value = getattr(settings, name)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise VisionError(f"{name} = {value}: expected a whole number from {low} to {high}")


def settings_of(kind: type[Kind], known: Kind | None, given: dict[str, Any]) -> Kind:
    """Settings from the options that are given; with those ``known`` of the file of --like, which options must not contradict."""
    stated = {name: value for name, value in given.items() if value is not None}
    for name, value in stated.items() if known is not None else ():
        there = getattr(known, name)
        if value != there:
            raise VisionError(f"{name} = {value}, but the file of --like was built with {there}: leave the option out")
    settings: Any = kind(**stated) if known is None else known
    settings.check()
    found: Kind = settings
    return found


def stored(kind: type[Kind], settings: dict[str, Any]) -> Kind:
    """Settings as a file remembers them, without those that this version does not know; lists become tuples."""
    known = {one.name for one in fields(kind)}  # type: ignore[arg-type]
    plain = {name: tuple(value) if isinstance(value, list) else value for name, value in settings.items() if name in known}
    found: Any = kind(**plain)
    found.check()
    return found  # type: ignore[no-any-return]
