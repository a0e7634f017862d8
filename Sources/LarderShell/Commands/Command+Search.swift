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
    plain: ["": "namespace key in offset context"],
    examples: [
      Example("search Kiruna @departures", "in keys and values"),
      Example("search '\"track\": *4' --regex --in values", "an expression"),
      Example("search ERROR @logs --case --limit 10", "at most ten entries"),
    ],
    run: findText)

  private static func findText(_ call: Invocation, in session: Session) throws -> Outcome {
    let place = call.choice("--in") ?? "both"
    let finder: TextFinder
    do throws(ShellError) {
      finder = try TextFinder(
        call.bytes("TEXT")!, isRegex: call.has("--regex"), isExact: call.has("--case"),
        pause: session.host.checkInterruption)
    } catch {
      throw error.pointing(at: call.range("TEXT"))
    }
    var scope = try Scope(of: call, in: session, wholeByDefault: true)
    // The limit is one of entries in which it is found.
    var left = if case .count(let count) = scope.selection.limit { count } else { Int.max }
    scope.selection.limit = nil
    let presentation = session.output.presentation
    var writer = RowWriter(presentation, columns: Find.columns)
    try session.output.write(writer.begin())
    var isFound = false
    try ProgressLine.show("searching", of: scope.total(), in: session) { progress in
      try scope.forEachValue { entry, value -> Find? in
        let key = entry.key.bytes
        let inKey = place == "values" ? nil : try finder.finds(in: key).first
        let bytes: [UInt8] = place == "keys" ? [] : value.bytes
        let inValue = place == "keys" ? [] : try finder.finds(in: bytes)
        guard inKey != nil || !inValue.isEmpty else { return nil }
        return Find(
          entry, inKey.map { Find.Match($0, in: key) },
          inValue.map { Find.Match($0, in: bytes) })
      } _: { found in
        let finds = found.compactMap(\.self).prefix(left)
        left -= finds.count
        isFound = isFound || !finds.isEmpty
        if presentation.mode == .table {
          for find in finds {
            try session.output.write(
              find.lines(presentation, namesNamespaces: scope.namesNamespaces))
          }
        } else {
          try session.output.write(writer.write(finds.map(\.cells)))
        }
        try progress.advance(by: found.count)
        return left > 0
      }
    }
    try session.output.write(writer.end())
    if !isFound, session.output.presentation.mode.isForPerson {
      try session.output.writeLines(["no matches"])
    }
    return .done
  }
}
