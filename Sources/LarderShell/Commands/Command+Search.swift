import Larder
import ShellLanguage

extension Command {
  static let search = Command(
    "search", aliases: ["grep"], .looking, .reads,
    "Finds text in keys and values and shows the line around it.",
    parameters: [.one("TEXT", .text)], selection: .optional,
    options: [
      .value("--in", .choice(["keys", "values", "both"]), "where to search; default: both"),
      .flag("--regex", "TEXT is a regular expression"),
      .flag("--case", "match case"),
    ],
    examples: [
      Example("search Kiruna @departures", "in keys and values"),
      Example("search '\"track\": *4' --regex --in values", "an expression"),
      Example("search ERROR @logs --case --limit 10", "at most ten entries"),
    ],
    run: findText)

  private static func findText(_ call: Invocation, in session: Session) throws -> Outcome {
    let place = call.choice("--in") ?? "both"
    let finder = try TextFinder(
      call.bytes("TEXT")!, isRegex: call.has("--regex"), isExact: call.has("--case"))
    var (selection, namespaces) = try session.scope(of: call, wholeByDefault: true)
    // The limit is one of entries in which it is found.
    var left = if case .count(let count) = selection.limit { count } else { Int.max }
    selection.limit = nil
    let presentation = session.presentation
    var writer = RowWriter(presentation, columns: Find.columns)
    try session.write(writer.begin())
    var isFound = false
    let total = try namespaces.map { try $0.count() }.reduce(0, +)
    try session.withProgress("searching", of: total) { progress in
      try session.forEachValue(of: selection, in: namespaces) { entry, value -> [Find] in
        var finds: [Find] = []
        if place != "values" {
          finds += finder.finds(in: entry.key.bytes).prefix(1)
            .map { Find(entry, "key", $0, in: entry.key.bytes) }
        }
        if place != "keys" {
          let bytes: [UInt8] = value.bytes
          finds += finder.finds(in: bytes).map { Find(entry, "value", $0, in: bytes) }
        }
        return finds
      } _: { found in
        let finds = found.filter { !$0.isEmpty }.prefix(left)
        left -= finds.count
        isFound = isFound || !finds.isEmpty
        if presentation.mode == .table {
          for find in finds.joined() {
            try session.write(find.line(presentation, namesNamespaces: namespaces.count > 1))
          }
        } else {
          try session.write(writer.write(finds.joined().map(\.cells)))
        }
        try progress.advance(by: found.count)
        return left > 0
      }
    }
    try session.write(writer.end())
    if !isFound, session.presentation.mode.isForPerson {
      try session.write(session.presentation.lines(["no matches"]))
    }
    return .done
  }
}
