"""Every example of the guide and of the README is run and prints what is written there."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("document", ["docs/guide/python.md", "README.md"])
def test_examples_print_what_they_say(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parts = re.findall(r"^```python\n(.*?)^```", (ROOT / document).read_text(), re.MULTILINE | re.DOTALL)
    examples = doctest.DocTestParser().get_doctest("\n".join(parts), {}, document, document, 0)
    assert examples.examples
    said = []
    doctest.DocTestRunner().run(examples, out=said.append)
    assert not said, "".join(said)
