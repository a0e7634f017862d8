import Larder
import ShellLanguage

extension Scope {
  private static let batch = 500
  /// After a cut list, the other entries are counted: at most `countedRest` entries, for at most `countingTime`.
  private static let countedRest = 10_000
  private static let countingTime = Duration.milliseconds(4)

  func list(as form: EntryForm, includingExpired: Bool = false) throws {
    let output = session.output
    // Keys that are still to be read from standard input can be read only once, so such a list has no pages.
    let page = selection.input == nil || input != nil ? output.page(selection.limit) : nil
    let most = page ?? .max
    // The entries after the page are counted, but not shown.
    var cut = self
    let isSorted = EntryOrder(selection) != nil
    if page != nil { cut.selection.limit = isSorted ? most : nil }
    var (shown, isInTime) = (0, true)
    var lastKey: [UInt8]?
    let walked = try output.rows(form.columns, isLong: form.isLong, none: "no entries") { write in
      var end: ContinuousClock.Instant?
      defer { isInTime = end.map { ContinuousClock.now < $0 } ?? true }
      return try cut.walk(
        readingValues: form.readsValues, readingExtras: form.readsExtras,
        includingExpired: includingExpired
      ) { entry, value -> [Cell]? in
        shown += 1
        if shown == most { lastKey = entry.key.bytes }
        return shown <= most ? form.row(entry, value, session) : []
      } _: { rows in
        try write(rows.filter { !$0.isEmpty })
        if shown >= most { end = end ?? ContinuousClock.now + Self.countingTime }
      } while: {
        end.map { shown - most < Self.countedRest && ContinuousClock.now < $0 } ?? true
      }
    }
    if walked.found > most {
      let isAll = isSorted || shown - most < Self.countedRest && isInTime
      try output.writeLines([remark(walked.found - most, isAll: isAll, behind: lastKey)])
    }
    // If the keys were read before the walk, another walk has already noted the absent keys, so this walk writes no note.
    if input == nil { try walked.noteAbsent(session.host) }
    try walked.noteDamage(session.host)
    if walked.found + walked.damaged == 0, output.isForPerson { try suggestOtherMatches() }
  }

  /// The line below a cut list, such as `... 1,203 more: --after "k0050", or --limit all`
  private func remark(_ rest: Int, isAll: Bool, behind key: [UInt8]?) -> SafeText {
    let over = isAll ? "" : "over "
    // `--after` continues only a list of one namespace in the order of keys, so the line for any other list omits `--after`.
    let isByKey = EntryOrder(selection) == nil && namespaces.count == 1 && selection.input == nil
    let after = isByKey ? key.map { "--after \(Quoting.typed($0)), or " } ?? "" : ""
    let other = selection.sort == .size && !selection.isReversed ? "--reverse, or " : ""
    return "\u{2026} \(over)\(Wording.count(rest)) more: \(after)\(other)--limit all"
  }

  func listKeys() throws {
    var walk = try SelectionWalk(selection, in: namespaces, for: session)
    var left = selection.most
    try session.output.rows([Column("key", holdsBytes: true)]) { write in
      while left > 0 {
        let keys = try walk.nextKeys(min(left, Self.batch))
        try write(keys.map { [.bytes($0)] })
        left -= keys.count
        if keys.count < Self.batch { break }
      }
    }
    try walk.walked.noteDamage(session.host)
  }

  /// Suggests keys that resemble a missing key. For a pattern, suggests matches in another case, or values that contain its text.
  private func suggestOtherMatches() throws {
    if selection.listsKeys, namespaces.count == 1, case .key(let key)? = selection.patterns.first,
      try !missingKeys().isEmpty
    {
      let hint = try namespaces[0].hint(for: key, verb: "keys")
      return try session.host.notify("note: no entry \(key); \(hint)")
    }
    guard !selection.ignoresCase, selection.patterns.count == 1,
      case .glob(let glob) = selection.patterns[0], case let text = glob.longestLiteral,
      text.count > 1
    else { return }
    let pattern = try glob.ignoringCase
    let finder = try TextFinder(text, isExact: false, pause: session.queries.pause)
    let keys = try found("matches", "match", by: "-i") { namespace, count in
      try namespace.scanKeys { try count(pattern.matches($0.bytes)) }
    }
    let values = try found("value", "values", by: "search \(Quoting.typed(text))") {
      namespace, count in
      try namespace.scanReadable { _, value in
        try count(value.count < Self.largestSearched && finder.matches(value.bytes))
      }
    }
    let parts = [keys, values].compactMap(\.self)
    if !parts.isEmpty { try session.host.notify("note: no keys match; \(parts.joined())") }
  }

  /// Words such as `over 3 values with ...`; nil if a short search finds nothing. `search` calls `count` for each key or value.
  private func found(
    _ one: String, _ many: String, by way: String,
    _ search: (Store.Namespace, _ count: (Bool) throws -> Bool) throws -> Void
  ) throws -> SafeText? {
    var number = 0
    let end = ContinuousClock.now + Self.suggestionTime
    for namespace in namespaces where ContinuousClock.now < end {
      try search(namespace) { isFound in
        if isFound { number += 1 }
        return ContinuousClock.now < end
      }
    }
    let over = ContinuousClock.now < end ? "" : "over "
    return number == 0 ? nil : "\(over)\(Wording.count(number, one, many)) with `\(way)`"
  }

  private static let suggestionTime = Duration.milliseconds(50)
  private static let largestSearched = 1_000_000
}
