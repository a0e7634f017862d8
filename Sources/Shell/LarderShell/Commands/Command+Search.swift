import Larder
import ShellLanguage

extension Command {
  static let search = CommandSpec(
    "search", aliases: ["grep"], .looking, .reads,
    "Finds text in keys and values and shows the line around it.",
    parameters: [.one("TEXT", .text)], selection: .optional,
    options: [
      .value("--in", .choice(["keys", "values", "both"]), "where to search; default: both"),
      .flag("--regex", "TEXT is a regular expression, per line"), .flag("--case", "match case"),
    ],
    plain: ["": "namespace key in offset context"],
    examples: [
      "search Kiruna @departures": "in keys and values",
      "search '\"track\": *4' --regex --in values": "an expression",
      "search ERROR @logs --case --limit 10": "at most ten entries",
    ]
  ).running { call, session in
    let place = call.choice("--in") ?? "both"
    let finder: TextFinder
    do throws(ShellError) {
      guard call.bytes("TEXT") != [] else {
        throw ShellError(.usage, "there is no text to search for", hint: "`search TEXT`")
      }
      finder = try TextFinder(
        call.bytes("TEXT")!, isRegex: call.has("--regex"), isExact: call.has("--case"),
        pause: session.host.checkInterruption)
    } catch { throw error.pointing(at: call.range("TEXT")) }
    let scope = try Scope(of: call, in: session, wholeByDefault: true)
    // The limit counts only entries that contain the text.
    var left = scope.selection.most
    var isFound = false
    let presentation = session.output.presentation
    try session.output.rows(Find.columns) { write in
      try scope.unlimited.walk(showing: "searching", readingValues: place != "keys") {
        entry, value -> Find? in
        let key = place == "values" ? [] : entry.key.bytes
        let bytes: [UInt8] = place == "keys" ? [] : value.bytes
        let inKey = try finder.finds(in: key).first
        let inValue = try finder.finds(in: bytes)
        guard inKey != nil || !inValue.isEmpty else { return nil }
        return Find(
          entry: entry.withoutExtras, inKey: inKey.map { Find.Match($0, in: key) },
          inValue: inValue.map { Find.Match($0, in: bytes) })
      } _: { found in
        let finds = found.prefix(left)
        left -= finds.count
        isFound = isFound || !finds.isEmpty
        if session.output.isTable {
          try session.output.write(
            finds.flatMap { $0.lines(presentation, namesNamespaces: scope.namesNamespaces) })
        } else {
          try write(finds.map(\.cells))
        }
      } while: {
        left > 0
      }.note(session.host)
    }
    if !isFound, session.output.isForPerson { try session.output.writeLines(["no matches"]) }
  }
}
