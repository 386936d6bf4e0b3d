"""The one base of every error that ends a command: its text is one sentence that says what happened and what to do.

::

    GraderError            exit code 2
      ConfigError          config: a setting of the course cannot be used
      UsageError           intake: a path cannot be graded at all
      SeedError            contract: the course seed is none, or not the one that was used before
      TableError           contract: the table of questions contradicts itself
      SheetError           tables: a class list or another CSV cannot be used
      RequestError         reporting: a request for another look has no block that can be read
      JournalError         grading: OUT holds something that this run may not touch
      WeakConfinement      grading: the probe found a hole in the walls
      ServerDied           sandbox: the fork-server could not start or is gone
      DeviceUnfit          grading: the reference solution fails on the device
      NotHere              system: grading was asked for on another system than Linux
      ReleaseError         release: what students or Gradescope receive cannot be made

What goes wrong with one submission is never one of these: it is a :class:`autograder.findings.Found`, which costs that
submission its row or its points and nobody else anything.
"""


class GraderError(Exception):
    """Ends the command with ``exit_code`` and the text as its only output."""

    exit_code = 2
