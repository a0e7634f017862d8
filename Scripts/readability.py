"""Prints sentences of Markdown files that are hard to read, with their file and line.

  long       more than 30 words
  opening    begins without its subject: "There is", "It is said", "What was", a participle, or a passive with its agent
  term       an abbreviation that neither Docs/Use/Glossary.md nor common use explains

Of Swift files it reads the comments with three slashes, and prints only sentences that begin with "What" or "Who".

Code, tables and quoted programs are left out. Exits with 1 if it prints anything.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LONGEST = 30

COMMON = set(
    """CLOCK OPT SIEVE AES GCM HMAC API APIs ASCII CBOR CI CLI CPU CSV DNS DocC GB GET HEAD HTML HTTP HTTPS ID IP JSON KB LRU LTS MB MIT NFS OK OS PATH PNG POST
    PR RAM README RFC RSS SHA SMB SQL SQLite SSD SVG TLS UI URI URIs URL URLs UTC UTF WAL YAML XML GNU FUSE PDF PID SIGTERM
    SIGBUS SIGKILL TTL TSan ASan CDN OSC LFU ARC FIFO GRDB LMDB MVCC NIO DELETE PUT SET DEL EX NX TODO ISO PREFIX DESTDIR
    AFS STORE KEY NAME FILE VALUE NEW PROGRAM""".split())

OPENINGS = [
    (r"^(There|Here) (is|are|was|were)\b", "there is"),
    (r"^It (is|was) \w+(ed|en)\b", "it is done"),
    (r"^(What|Who|Whoever|Whatever|Whose|Whom)\b(?!.*\?$)", "what"),
    (r"^(Being|Having|Given|Done|Made|Written|Kept|Held|Called|Stored|Used|Found|Left|Seen|Known)\b", "participle"),
    (r"^(\w+ ){0,3}(is|are|was|were) (\w+ly )?\w+(ed|en|wn) by\b", "passive with agent"),
]


def sentences(path):
    """Pairs of a line number and a sentence."""
    code, paragraph, start = False, [], 0
    lines = path.read_text().split("\n") + [""]
    if path.suffix == ".swift":
        lines = [re.sub(r"^\s*/// ?", "", line) if re.match(r"\s*///", line) else "" for line in lines]
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            code = not code
            line = ""
        if code or re.match(r"\s*\|", line) or line.startswith(("    ", "#", "<!--")):
            line = ""
        item = re.match(r"\s*([-*]|\d+\.) +(?=\S)", line)
        if (not line.strip() or item) and paragraph:
            text = " ".join(paragraph)
            for sentence in re.split(r"(?<=[.!?:])\s+(?=[A-Z`*\[\"(])", text):
                yield start, sentence.strip()
            paragraph = []
        if line.strip():
            if not paragraph:
                start = number
            paragraph.append(line[item.end():].strip() if item else line.strip())


def plain(sentence):
    sentence = re.sub(r"`[^`]*`", "X", sentence)
    sentence = re.sub(r"\[[\w/]+\.md\]\([^)]*\)", "X", sentence)
    sentence = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", sentence)
    return re.sub(r"[*_]", "", sentence)


def main(names):
    glossary = set(re.findall(r"[A-Za-z]+", (ROOT / "Docs/Use/Glossary.md").read_text()))
    found = 0
    for name in names:
        for line, sentence in sentences(ROOT / name):
            text = plain(sentence)
            words = re.findall(r"[A-Za-z0-9][\w'.,%/-]*", text)
            notes = []
            if len(words) > LONGEST:
                notes.append(f"long ({len(words)} words)")
            notes += [f"opening ({label})" for rule, label in OPENINGS if re.search(rule, text)]
            terms = {w for w in re.findall(r"\b[A-Z][A-Z]+s?\b", text) if w not in COMMON and w not in glossary}
            if terms:
                notes.append("term (" + ", ".join(sorted(terms)) + ")")
            if name.endswith(".swift"):
                notes = [note for note in notes if note == "opening (what)"]
            for note in notes:
                found += 1
                print(f"{name}:{line}: {note}: {sentence[:110]}")
    return found


sys.exit(1 if main(sys.argv[1:]) else 0)
