"""Write the golden files anew: `python -m tests.golden`. Then read the difference, line by line."""

from tests.golden.forms import FORMS, path, written

for form in FORMS:
    written(form).save(path(form))
    print(f"wrote {path(form).name}")
