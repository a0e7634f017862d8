import Larder
import ShellLanguage

/// The rows that are in memory at a time.
private let batch = 500

extension Scope {
  func list(as form: EntryForm, includingExpired: Bool = false) throws {
    let output = session.output
    let most = shownRows
    let list = try Listing(
      self, as: form, most: output.isTable ? nil : most, includingExpired: includingExpired)
    guard try list.show(most: most, in: session) else { return }
    try noteQuotedWords()
    if output.isTable { try suggestOtherMatches() }
  }

  /// The rows of a list that are shown; nil for all of them.
  var shownRows: Int? {
    // Standard input is read once, so that such a list cannot be continued.
    selection.input == nil || selection.limit != nil ? session.output.rows(selection.limit) : nil
  }

  /// Writes the keys of a selection in one namespace that needs nothing else of the entries.
  func listKeys() throws {
    let namespace = namespaces[0]
    var writer = RowWriter(session.output.presentation, columns: [Column("key", holdsBytes: true)])
    let isPrefix = selection.patterns.isEmpty
    var left = selection.most
    for case .prefix(let prefix) in selection.ranges {
      var last = selection.after
      while left > 0 {
        var rows: [[Cell]] = []
        try namespace.scanKeys(prefix: prefix, after: last.map { try namespace.cursor(after: $0) })
        {
          try session.host.checkInterruption()
          let key: [UInt8] = $0.bytes
          guard isPrefix || selection.patterns.contains(where: { $0.matches(key) }) else {
            return true
          }
          rows.append([.bytes(key)])
          last = key
          return rows.count < min(left, batch)
        }
        try session.output.write(writer.write(rows))
        left -= rows.count
        if rows.count < batch { break }
      }
    }
  }

  /// A pattern that matched no key may have the wrong case, or be text of a value.
  private func suggestOtherMatches() throws {
    guard !selection.ignoresCase, selection.patterns.count == 1,
      case .glob(let glob) = selection.patterns[0], case let text = glob.longestLiteral,
      text.count > 1
    else { return }
    let pattern = try glob.ignoringCase
    let finder = try TextFinder(text, isExact: false, pause: session.queries.pause)
    var (keys, values) = (0, 0)
    var (isKeysCut, isValuesCut) = (false, false)
    let end = ContinuousClock.now + Self.suggestionTime
    for namespace in namespaces {
      try namespace.scanEntries { entry, _ in
        if pattern.matches(entry.key.bytes) { keys += 1 }
        isKeysCut = ContinuousClock.now >= end
        return !isKeysCut
      }
    }
    let valuesEnd = ContinuousClock.now + Self.suggestionTime
    for namespace in namespaces {
      try namespace.scanReadable { entry, value in
        if value.count < Self.largestSearched, try !finder.finds(in: value.bytes).isEmpty {
          values += 1
        }
        isValuesCut = ContinuousClock.now >= valuesEnd
        return !isValuesCut
      }
    }
    var parts: [SafeText] = []
    func over(_ isCut: Bool) -> SafeText { isCut ? "over " : "" }
    if keys > 0 {
      parts.append(over(isKeysCut) + "\(Wording.count(keys, "matches", "match")) with `-i`")
    }
    if values > 0 {
      let words = Quoting.typed(text)
      parts.append(
        over(isValuesCut)
          + "\(Wording.count(values, "value", "values")) with `search \(words)`")
    }
    guard !parts.isEmpty else { return }
    try session.host.notify("note: no keys match; \(parts.joined())")
  }

  private static let suggestionTime = Duration.milliseconds(50)
  private static let largestSearched = 1_000_000
}

extension Listing {
  /// Bounds for counting the rest of a cut list.
  private static let countedRest = 10_000
  private static let countingTime = Duration.milliseconds(4)

  /// Lists the next entries, and keeps the rest for `more`.
  ///
  /// - Parameter most: The number of rows; nil for all.
  ///
  /// - Returns: The list had no entry.
  @discardableResult
  func show(most: Int?, in session: Session) throws -> Bool {
    var list = self
    let output = session.output
    let presentation = output.presentation
    var writer = RowWriter(presentation, columns: form.columns, isLong: form.isLong)
    var left = most ?? .max
    // An error in the first batch comes before any output.
    var rows = try list.nextRows(min(left, batch), in: session)
    if presentation.mode.isForPerson, presentation.mode != .markdown, rows.isEmpty {
      try output.writeLines(["no entries"])
    }
    if left <= batch || rows.count < batch { writer.total = rows.count }
    let isEmpty = rows.isEmpty
    try output.write(writer.begin())
    while !rows.isEmpty {
      left -= rows.count
      try output.write(writer.write(rows))
      rows = try list.nextRows(min(left, batch), in: session)
    }
    try output.write(writer.end())
    session.listing = nil
    if presentation.mode == .table, most != nil, !isOnce { try list.keep(for: session) }
    return isEmpty
  }

  private mutating func nextRows(_ most: Int, in session: Session) throws -> [[Cell]] {
    let (form, clock) = (form, session.wallClock)
    guard !form.shown.isEmpty else { return try next(most).map { form.cells($0, clock) } }
    guard most > 0 else { return [] }
    var rows: [[Cell]] = []
    try advance(in: session.store) { entry, value in
      try session.host.checkInterruption()
      rows.append(form.row(entry, value, clock, session.queries))
      return rows.count < most
    }
    return rows
  }

  /// Keeps the rest of a list for `more`, and says how long it is.
  private func keep(for session: Session) throws {
    var rest = self
    var count = 0
    var isCounted = false
    let start = ContinuousClock.now
    while !isCounted, count < Self.countedRest,
      count == 0 || ContinuousClock.now - start < Self.countingTime
    {
      let found = try rest.next(batch)
      count += found.count
      isCounted = found.count < batch
    }
    guard count > 0 else { return }
    session.listing = self
    let mark = session.output.presentation.ellipsis
    let over = isCounted ? "" : "over "
    try session.output.writeLines([
      "\(mark) \(over)\(Wording.count(count)) more: `more`, or --limit all"
    ])
  }
}
