"""The connection to a Ray cluster, and what is true of every actor there: the same versions, and objects that can be sent."""

from __future__ import annotations

import importlib
import os
import platform
import socket
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from multiplane import _core

CONNECT = 10.0
"""Seconds in which an address has to accept a connection."""

JOIN = 60.0
"""Seconds in which a cluster has to answer, once its address has accepted a connection."""

_connected: list[str] = []
"""The ``executor`` by which this process was connected last."""


class ClusterWarning(UserWarning):
    """A Ray cluster is no faster than this machine, or has no room."""


def versions() -> dict[str, str]:
    """The versions that must be the same everywhere."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"python": python, "multiplane": _core.__version__, "ray": package().__version__}


def package() -> Any:
    """The package ray, which need not be there."""
    return importlib.import_module("ray")


def loaded(executor: str) -> Any:
    """The package ray, connected to a cluster: the one that is connected already, that of the address, of ``$RAY_ADDRESS``, or a new
    one on this machine.
    """
    if executor != "ray" and not executor.startswith("ray://"):
        raise ValueError(f'executor = {executor!r}: expected "ray", "ray://HOST:PORT" or an executor of concurrent.futures')
    try:
        ray = package()
    except ImportError:
        raise ImportError(f'executor = {executor!r}: needs the package ray: pip install "multiplane[ray]"') from None
    if ray.is_initialized():
        if executor not in ("ray", *_connected):
            raise ValueError(f'executor = {executor!r}: Ray is connected already: use executor="ray", or call ray.shutdown() before')
        return ray
    address = executor if executor != "ray" else os.environ.get("RAY_ADDRESS")
    named = f"executor = {executor!r}" + ("" if address == executor or not address else f" (RAY_ADDRESS={address})")
    if address and address not in ("auto", "local"):
        _reached(address, named)
    failed: list[BaseException] = []
    connected = threading.Event()

    def connect() -> None:
        try:
            ray.init(address=address, logging_level="error", ignore_reinit_error=True)
        except Exception as error:  # is raised below
            failed.append(error)
        connected.set()
        threading.Event().wait()  # the kernel ends a cluster that Ray has started with the thread that did so

    with warnings.catch_warnings():  # of this thread: the other one may end late, and would then undo the filters of others
        warnings.simplefilter("ignore", FutureWarning)  # of Ray to its own users
        threading.Thread(target=connect, daemon=True).start()  # Ray itself may wait for minutes
        is_there = connected.wait(JOIN)
    if not is_there:
        what = "something listens there, but" if address else "one ran on this machine (`ray stop` forgets it):"
        raise ConnectionError(f"{named}: {what} no Ray cluster answered within {JOIN:g} s")
    if failed:
        told, reason = str(failed[0].__cause__ or ""), first_line(failed[0])
        is_closed = "InvalidAuthToken" in told or "InvalidAuthToken" in str(failed[0]) or "timeout" in reason
        hint = "; it may ask for a token: see RAY_AUTH_MODE in Ray's documentation" if is_closed else ""
        raise ConnectionError(f"{named}: {reason}{hint}") from failed[0]
    _connected[:] = [executor]
    return ray


def _reached(address: str, named: str) -> None:
    """Raises ConnectionError if nothing listens at an address."""
    host, _, port = address.removeprefix("ray://").split("/")[0].rpartition(":")
    if not host or not port.isdigit():
        raise ValueError(f"{named}: expected HOST:PORT")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT).close()
    except (OSError, OverflowError) as error:
        raise ConnectionError(f"{named}: nothing answers there ({error})") from None


def room(ray: Any, options: Mapping[str, Any]) -> int:
    """How many actors with these needs the whole cluster has room for."""
    there = ray.cluster_resources()
    asked = {"CPU": options.get("num_cpus"), "GPU": options.get("num_gpus"), **(options.get("resources") or {})}
    found = [there.get(name, 0.0) / amount for name, amount in asked.items() if amount]
    return int(min(found) if found else there.get("CPU", 1.0))


def first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"


def unpicklable(value: Any, name: str, pickled: Callable[[Any], Any]) -> str:
    """The attribute, entry or element, by its dotted name, that cannot be pickled, and why."""
    try:
        pickled(value)
        return ""
    except Exception as error:  # whatever the user's objects raise
        reason = f"{name} cannot be pickled ({first_line(error)})"
    below: Iterator[tuple[str, Any]] = iter(())
    if isinstance(value, Mapping):
        below = ((f"{name}[{key!r}]", one) for key, one in value.items())
    elif isinstance(value, (list, tuple)):
        below = ((f"{name}[{i}]", one) for i, one in enumerate(value))
    elif hasattr(value, "__dict__"):
        below = ((f"{name}.{key}", one) for key, one in vars(value).items())
    return next((found for inner, one in below if (found := unpicklable(one, inner, pickled))), reason)
