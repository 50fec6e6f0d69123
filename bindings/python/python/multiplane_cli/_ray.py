"""``multiplane train --executor ray[://ADDRESS]``: programs of task ``external`` on the nodes of a Ray cluster.

The command talks to a relay as to the program, one for each of its threads. The relay passes lines on to an actor, which runs the
program. If either ends, the command sees that its program has ended, and starts it again.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from typing import Any

SILENT = {"weights", "end"}
"""Messages without an answer."""


class Refused(Exception):
    """What is wrong with a command line, in one line."""


class Program:
    """What runs in an actor: the program."""

    def __init__(self, words: list[str], folder: str) -> None:
        folder_there = folder if os.path.isdir(folder) else None
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder_there)

    def say(self, line: bytes, is_answered: bool) -> bytes:
        """Passes a line on and returns the answer, which is empty if the program has ended."""
        pipes = self._process
        assert pipes.stdin is not None and pipes.stdout is not None
        try:
            pipes.stdin.write(line)
            pipes.stdin.flush()
        except OSError:
            return b""
        return pipes.stdout.readline() if is_answered else b""


def rewritten(arguments: list[str]) -> tuple[list[str], subprocess.Popen[bytes]]:
    """The command line with a relay in the place of the program, and the process that holds the connection to Ray. Raises Refused."""
    left, executor = _taken(arguments, "--executor")
    _, task = _taken(left, "--task")
    left, command = _taken(left, "--set", "task.command=")
    if left[:1] != ["train"] or task != "external":
        what = f"`multiplane {' '.join(left[:1])}`" if left[:1] != ["train"] else f"task {task}" if task else "a task that --task does not name"
        raise Refused(
            f"--executor: not for {what}: actors run programs of `train --task external`; the other tasks are compiled, and use "
            "the cores of one machine (--threads); a task in Python has StructuredSVM(task, executor=...)"
        )
    if not command:
        raise Refused("--executor: needs --set task.command=PROGRAM on the command line")
    try:
        words = json.loads(command) if command.lstrip().startswith("[") else shlex.split(command)
    except ValueError as error:
        raise Refused(f"task.command = {command}: {error}") from None
    holder = subprocess.Popen(
        [sys.executable, "-m", "multiplane_cli._ray", "hold", executor],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert holder.stdout is not None
    told = json.loads(holder.stdout.readline() or b'{"error": "--executor: the connection to Ray ended"}')
    if "error" in told:
        raise Refused(told["error"])
    os.environ.update(told)
    relay = [sys.executable, "-m", "multiplane_cli._ray", "relay", executor, *words]
    return [*left, "--set", f"task.command={json.dumps(relay)}"], holder


def _taken(arguments: list[str], option: str, head: str = "") -> tuple[list[str], str]:
    """The arguments without an option whose value begins with ``head``, and the rest of the value; empty if it is not there."""
    left, found, words = [], "", iter(arguments)
    for word in words:
        if word == option:
            value = next(words, "")
            given = [word, value]
        elif word.startswith(f"{option}="):
            value = word[len(option) + 1 :]
            given = [word]
        else:
            left.append(word)
            continue
        if value.startswith(head):
            found = value[len(head) :]
        else:
            left += given
    return left, found


def connected(executor: str) -> Any:
    """Connects to the cluster; prints of Ray go to standard error. Raises whatever is wrong."""
    os.dup2(2, 1)
    from multiplane._ray import loaded

    return loaded(executor)


def in_a_line(error: Exception) -> str:
    """What is wrong, in the words of the command line."""
    return str(error).replace("executor = ", "--executor ")


def hold(executor: str) -> None:
    """Connects to the cluster, says how others do, and stays until standard input ends: a cluster of this machine lives as long."""
    out = os.fdopen(os.dup(1), "wb")
    try:
        ray = connected(executor)
        told = {}
        if executor == "ray" and "RAY_ADDRESS" not in os.environ:
            told = {"RAY_ADDRESS": ray.get_runtime_context().gcs_address}
            told["RAY_AUTH_MODE"] = os.environ.get("RAY_AUTH_MODE", "token")  # of clusters that ray.init starts
    except Exception as error:  # told in one line
        told = {"error": in_a_line(error)}
    out.write(json.dumps(told).encode() + b"\n")
    out.flush()
    if "error" not in told:
        sys.stdin.buffer.read()


def relay(executor: str, words: list[str]) -> int:
    """Passes lines on to the program in an actor, and answers back, until one of the two ends."""
    out = os.fdopen(os.dup(1), "wb")
    try:
        ray = connected(executor)
    except Exception as error:  # told in one line
        print(f"error: {in_a_line(error)}", file=sys.stderr)
        return 1
    program: Any = ray.remote(Program).options(num_cpus=1).remote(words, os.getcwd())
    for line in sys.stdin.buffer:
        kind = json.loads(line)["type"]
        try:
            answer = ray.get(program.say.remote(line, kind not in SILENT))
        except ray.exceptions.RayError as error:
            print(f"the actor of {shlex.join(words)} ended: {str(error).splitlines()[0]}", file=sys.stderr)
            return 1
        if kind in SILENT:
            continue
        if not answer:
            return 1
        out.write(answer)
        out.flush()
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "hold":
        hold(sys.argv[2])
    else:
        sys.exit(relay(sys.argv[2], sys.argv[3:]))
