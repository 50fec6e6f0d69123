"""Which photograph belongs to which label map: those of the same name, endings aside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from multiplane.vision._errors import VisionError
from multiplane.vision._images import ENDINGS


@dataclass(frozen=True)
class Pair:
    """A photograph and, where there is one, its label map."""

    name: str
    """The name without its ending."""
    photo: Path
    labels: Path | None


def _folder(path: Path, what: str) -> dict[str, Path]:
    """The images of a folder by name."""
    if not path.is_dir():
        fault = "is no folder" if path.exists() else "no such folder"
        raise VisionError(f"{path}: {fault}, expected a folder of {what}")
    found: dict[str, Path] = {}
    try:
        files = sorted(path.iterdir())
    except OSError as error:
        raise VisionError(f"{path}: cannot be read: {error.strerror}") from None
    for file in files:
        if file.suffix.lower() not in ENDINGS or file.name.startswith(".") or not file.is_file():
            continue
        try:
            file.name.encode()
        except UnicodeEncodeError:
            raise VisionError(f"{path}: the name {ascii(file.name)} is not UTF-8") from None
        if file.stem in found:
            raise VisionError(f"{file}: {found[file.stem].name} has the same name: images and labels go by their names")
        found[file.stem] = file
    if not found:
        raise VisionError(f"{path}: no image in it ({', '.join(sorted(ending[1:] for ending in ENDINGS))})")
    return found


def names_of(only: str | Iterable[str] | None, list_file: Path | None) -> dict[str, str] | None:
    """Names that were chosen, by ``--only`` (separated by commas) and by a file that has one a line; None for all. The values are
    their places in the file, empty for others.
    """
    if only is None and list_file is None:
        return None
    chosen: dict[str, str] = {}
    if isinstance(only, dict):
        chosen |= only
    elif only is not None:
        chosen |= dict.fromkeys((str(name).strip() for name in (only.split(",") if isinstance(only, str) else only)), "")
    if list_file is not None:
        try:
            lines = list_file.read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
            raise VisionError(f"{list_file}: cannot be read: {reason}") from None
        for number, line in enumerate(lines, 1):
            chosen.setdefault(line.strip(), f"{list_file}:{number}: ")
    chosen.pop("", None)
    if not chosen:
        raise VisionError(f"{'' if list_file is None else f'{list_file}: '}no image is chosen: the list is empty")
    return chosen


def _stem(name: str, photos: dict[str, Path]) -> str:
    """The name of a photograph that is given with its ending."""
    given = Path(name)
    is_file = given.suffix.lower() in ENDINGS and given.name == name and given.stem in photos
    return given.stem if name not in photos and is_file else name


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"


def pairs(images: Path, labels: Path | None, names: Iterable[str] | None) -> list[Pair]:
    """The pairs in the order of their names.

    Args:
        images: The folder of photographs.
        labels: The folder of label maps, if there is one.
        names: Those to take, perhaps as ``names_of`` gives them; None for all of the folder.

    Raises ``VisionError`` for a photograph without a map or a map without a photograph, among those taken.
    """
    photos = _folder(images, "photographs")
    maps = None if labels is None else _folder(labels, "label maps")
    if names is None:
        names = sorted(photos)
        lonely = [] if maps is None else sorted(maps.keys() - photos.keys())
        if lonely:
            raise VisionError(f"{labels}: label maps without a photograph in {images}: {_some(lonely)} (--only and "
                              "--list choose names)")  # fmt: skip
    places = names if isinstance(names, dict) else {}
    chosen = {_stem(name, photos): places.get(name, "") for name in names}
    missing = [name for name in chosen if name not in photos]
    if missing:
        raise VisionError(f"{chosen[missing[0]]}{images}: no photograph for {_some(missing)}")
    if maps is not None:
        bare = [name for name in chosen if name not in maps]
        if bare:
            raise VisionError(f"{chosen[bare[0]]}{labels}: no label map for {_some(bare)} (--only and --list choose names)")
    return [Pair(name, photos[name], None if maps is None else maps[name]) for name in sorted(chosen)]
