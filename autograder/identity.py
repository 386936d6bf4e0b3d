"""Who handed in: what a platform's download says about a submission's author, from intake to the row in the journal."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Identity:
    """An author as the platform knows them; every field is empty where the download does not say.

    ``id`` is the platform's own: it tells namesakes apart, and is the key of resume, folder, merge and bundle.
    ``members`` are the others who handed the same work in. ``received`` is an ISO time, without a zone where the
    platform gives none; ``late`` is the platform's own mark. ``attempt`` names the attempt that is graded, of
    ``attempts_seen``.
    """

    platform: str = ""
    id: str = ""
    login: str = ""
    name: str = ""
    email: str = ""
    members: tuple[str, ...] = ()
    received: str = ""
    late: bool = False
    attempt: str = ""
    attempts_seen: int = 1

    @property
    def key(self) -> str:
        """What stays the same from one download to the next; empty where the platform gives no id."""
        return f"{self.platform}:{self.id}" if self.id else ""

    @property
    def label(self) -> str:
        """A readable name that nobody else in the class can have where there is an id."""
        if not self.id or not self.name or self.name.endswith(self.id):
            return self.name or self.login or self.id
        return f"{self.name}-{self.id}"


NOBODY = Identity()
