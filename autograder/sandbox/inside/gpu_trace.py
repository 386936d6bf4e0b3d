"""Opens a device behind walls that note what they refuse, and tells that: a program for the doctor alone."""

import json
import socket
import sys

from autograder.sandbox.inside import gpu_child
from autograder.sandbox.inside.forkserver import MESSAGE_BYTES, import_everything, sentence
from autograder.sandbox.limits import Limits
from autograder.sandbox.walls import trace
from autograder.sandbox.walls.confine import Confinement


def main() -> None:
    """Answer the one message on the socket whose number is the last argument."""
    with socket.socket(fileno=int(sys.argv[-1])) as channel:
        settings = json.loads(channel.recv(MESSAGE_BYTES))
        try:
            denied = _denied(settings["device"], Limits.from_json(settings["limits"]))
        except Exception as error:
            denied = [f"nothing could be traced ({sentence(error)})"]
        channel.send(json.dumps(denied).encode()[:MESSAGE_BYTES])


def _denied(device: str, limits: Limits) -> list[str]:
    import_everything()
    gpu_child.prepare(device)
    from autograder.sandbox.inside.open_device import open_device

    confinement = Confinement(limits, gpu=True)
    confinement.prepare()

    def work() -> None:
        open_device(device)

    return trace.refused(confinement, work)
