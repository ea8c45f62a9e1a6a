"""The values that are stored with an array or super-chunk, as a mapping."""

from collections.abc import MutableMapping


class Attributes(MutableMapping):
    """Values by name: None, bool, int, float, complex, str, bytes, list, tuple, set, dict."""

    def __init__(self, owner):
        self._owner = owner

    def __getitem__(self, name):
        if name == slice(None):
            return self.getall()
        if name not in self:
            raise KeyError(name)
        return self._owner._value(name)

    def __setitem__(self, name, value):
        if name == slice(None):
            self.update(value)
        else:
            self._owner._set_value(name, value)

    def __delitem__(self, name):
        if name not in self:
            raise KeyError(name)
        self._owner._remove_value(name)

    def __contains__(self, name):
        return name in self._owner._value_names()

    def __iter__(self):
        return iter(self._owner._value_names())

    def __len__(self):
        return len(self._owner._value_names())

    def getall(self) -> dict:
        """All values."""
        return {name: self._owner._value(name) for name in self}

    def __repr__(self):
        return repr(self.getall())
