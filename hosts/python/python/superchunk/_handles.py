"""What `Table`, `Column` and `Pack` have in common: they stand on an object of the extension module."""


class Handle:
    """Something that is open: it commits, closes, is used by `with`, and is pickled by its path."""

    def __init__(self, held):
        self._held = held

    def commit(self) -> None:
        """Makes all changes final, in one step."""
        self._held.commit()

    flush = commit

    def close(self) -> None:
        """Commits and closes; closing again does nothing."""
        self._held.close()

    def _discard(self) -> None:
        self._held._discard()

    def refresh(self) -> None:
        """Takes over what another program has committed."""
        self._held.refresh()

    def verify(self, level="files", **options):
        """Checks the file as `superchunk.verify` does."""
        return self._held.verify(level, **options)

    @property
    def path(self) -> str:
        """The file or folder."""
        return self._held.path

    @property
    def urlpath(self) -> str:
        """The same as `path`."""
        return self._held.path

    @property
    def mode(self) -> str:
        """`'r'` or `'r+'`."""
        return self._held.mode

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._held.closed

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        self._held.__exit__(kind, value, traceback)

    def __reduce_ex__(self, protocol):
        return self._held.__reduce_ex__(protocol)
