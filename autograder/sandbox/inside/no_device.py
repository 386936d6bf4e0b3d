"""What opening a device raises where there is none to be used."""


class NoDevice(Exception):
    """The device cannot be used here; the text is one sentence that says why and what to do."""
