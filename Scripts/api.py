"""Prints the public declarations of a module from its symbol graphs, one a line, sorted.

A line is the path of the symbol, two spaces and its declaration. Conformances follow their types.
Prints the names of declarations without a documentation comment on standard error.
"""

import json
import pathlib
import sys


def constraints(symbol):
    words = {"conformance": ":", "superclass": ":", "sameType": "=="}
    found = symbol.get("swiftExtension", {}).get("constraints", [])
    # The line of the type has the constraint Value: Sendable, so other lines omit the constraint.
    found = [c for c in found if (c["lhs"], c["rhs"]) != ("Value", "Sendable")]
    return ", ".join(f"{c['lhs']} {words[c['kind']]} {c['rhs']}" for c in found)


def main(folder):
    lines, undocumented = set(), []
    for path in sorted(pathlib.Path(folder).glob("*.symbols.json")):
        graph = json.loads(path.read_text())
        extended = path.name.split(".")[0].split("@")[1:]
        names = {}
        for symbol in graph["symbols"]:
            name = ".".join(extended + symbol["pathComponents"])
            names[symbol["identifier"]["precise"]] = name
            parts = symbol.get("declarationFragments", [])
            text = " ".join("".join(part["spelling"] for part in parts).split())
            where = constraints(symbol)
            lines.add(f"{name}  {text}" + (f"  [{where}]" if where else ""))
            kind = symbol["kind"]["identifier"]
            # These members need no comment, because protocols of the standard library require and document these members.
            required = symbol["pathComponents"][-1] in (
                "init(from:)", "encode(to:)", "==(_:_:)", "<(_:_:)", "hash(into:)", "description",
                "rawValue", "init(rawValue:)")
            if "docComment" not in symbol and kind != "swift.extension" and not required:
                undocumented.append(name)
        for relation in graph["relationships"]:
            if relation["kind"] != "conformsTo" or relation["source"] not in names:
                continue
            protocol = relation.get("targetFallback") or names.get(relation["target"])
            if protocol and protocol not in ("Swift.Copyable", "Swift.Escapable", "Swift.SendableMetatype"):
                lines.add(f"{names[relation['source']]}: {protocol}")
    if lines:
        print("\n".join(sorted(lines)))
    if undocumented:
        print("without a comment: " + ", ".join(sorted(set(undocumented))), file=sys.stderr)


main(sys.argv[1])
