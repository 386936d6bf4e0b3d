"""Files on disk become submissions. Nothing a student wrote is executed here."""
