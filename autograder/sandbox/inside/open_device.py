"""Opens a device by its name."""

import torch

from autograder.sandbox.inside.device import Device


def open_device(name: str) -> Device:
    """Return the device, initialised and warm: the first call of a kind is slow."""
    if name == "cuda":
        from autograder.sandbox.inside.cuda import open_cuda

        device = open_cuda()
    else:
        from autograder.sandbox.inside.fakegpu import open_stand_in

        device = open_stand_in()
    torch.cat([torch.empty(1, device="meta")] * 2)  # its first call without values makes torch import a great deal
    pool = torch.zeros(2, 2, 2).to(device.name, dtype=torch.bfloat16)
    device.start()
    with device.watch():
        torch.cat([pool[0], pool[[1, 0]][0], pool[torch.tensor([1], device=device.name)][0]]).cpu()
    device.events()
    device.settle()
    return device
