"""Checks that every link inside the documentation site in a directory leads to a page of the site."""

import json
import pathlib
import sys

data = pathlib.Path(sys.argv[1]) / "data"
count, broken = 0, set()
for page in data.rglob("*.json"):
    for reference in (json.loads(page.read_text()).get("references") or {}).values():
        url = reference.get("url") or ""
        # The page of the tutorials contains all chapters, so a chapter needs no page.
        is_chapter = url.startswith("/tutorials/") and reference.get("role") == "article"
        if url.startswith("/") and not is_chapter:
            count += 1
            if not (data / (url.strip("/").split("#")[0] + ".json")).exists():
                broken.add(f"{page.relative_to(data)}: {url}")
print("\n".join(sorted(broken)) or f"{count} links lead to pages of the site")
sys.exit(1 if broken or not count else 0)
