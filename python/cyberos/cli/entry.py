"""Where the process begins and ends. Click is not imported yet when this is."""

import gc
import os
import sys
from contextlib import suppress
from typing import Final, NoReturn

_INTERRUPTED: Final = 128 + 2


def run() -> NoReturn:
    """Runs the program and ends the process with its exit code.

    Two things are for speed, and save a fifth of a short command's time: nothing is collected while modules are loaded
    (they stay), and the interpreter is not taken apart at the end. So nothing may be left to exit handlers: what has to
    be closed is closed by the command that opened it.
    """
    gc.disable()
    _stand_in_for_closed_streams()
    try:
        code = _main()
    except KeyboardInterrupt:  # while modules were loaded, or at the very end
        code = _INTERRUPTED
    os._exit(code)


def _main() -> int:
    from cyberos.cli.main import main

    gc.freeze()
    gc.enable()
    code = main()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    return code


def _stand_in_for_closed_streams() -> None:
    """Opens the standard streams that the caller has closed.

    Else a file of the store would be opened under one of their numbers, and messages would be written into it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_WRONLY)  # gets the lowest number that is free: this one
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115, open to the end
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
