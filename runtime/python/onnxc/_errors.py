"""What goes wrong, as exceptions that carry the status and the message."""

from __future__ import annotations

import enum


class Status(enum.IntEnum):
    """The status codes of onnxc/model.h and onnxc/runtime.h."""

    OK = 0
    SHAPE = 1
    INDEX = 2
    ARENA = 3
    ALIGNMENT = 4
    CAPACITY = 5
    ALLOCATOR = 6
    CPU = 7
    ABI = 8
    VALUE = 9
    FILE = 64
    FORMAT = 65
    MACHINE = 66
    MEMORY = 67

    @classmethod
    def _missing_(cls, value: object) -> Status:
        # A newer runtime has codes of its own.
        unknown = int.__new__(cls, value)
        unknown._name_, unknown._value_ = f"STATUS_{value}", value
        return unknown


class Error(Exception):
    """A model cannot be opened or a run failed. `status` says why, `message` in words and with the node's name."""

    def __init__(self, status: int, message: str):
        super().__init__(status, message)
        self.status = self._status(status)
        self.message = message

    _status = Status

    def __str__(self) -> str:
        return self.message


class InputError(Error, ValueError):
    """The arguments of a run do not fit the model: names, types, ranks or extents. `status` is Status.SHAPE."""


class CompileError(Error):
    """The compiler refused a model. `status` is its exit code, `message` what it said.

    1: bad model, 2: usage, 3: unsupported, 4: over a budget, 5: verification failed; negative: it died of that signal.
    """

    _status = int
