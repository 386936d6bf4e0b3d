"""A finding names what was observed by a code, so that every language can say it in words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

Details = Mapping[str, str | int]
NO_DETAILS: Details = MappingProxyType({})


@dataclass(frozen=True)
class Finding:
    """One sentence in waiting: ``code`` picks it from the catalogue, ``details`` fill its blanks."""

    code: str
    details: Details = field(default_factory=lambda: NO_DETAILS)

    def to_json(self) -> dict[str, object]:
        """Return the finding as plain JSON data."""
        return {"code": self.code, "details": dict(self.details)}

    @classmethod
    def from_json(cls, data: dict[str, object]) -> "Finding":
        """Rebuild a finding from what :meth:`to_json` returned."""
        details = data.get("details", {})
        assert isinstance(details, dict)
        return cls(str(data["code"]), details)


class Found(Exception):
    """Ends what was being done because of what was observed; the base of every refusal and every death of a child."""

    def __init__(self, code: str, details: Details = NO_DETAILS) -> None:
        super().__init__(code)
        self.finding = Finding(code, details)
