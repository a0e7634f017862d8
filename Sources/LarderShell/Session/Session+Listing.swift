import Larder
import ShellLanguage

extension Session {
  /// The rows that a person sees at once without a limit.
  private static let page = 50
  /// Bounds for counting the rest of a cut list.
  private static let countedRest = 10_000
  private static let countingTime = Duration.milliseconds(4)
  /// The rows that are in memory at a time.
  private static let batch = 500

  /// A person reads the answers as tables.
  var isForPerson: Bool { presentation.mode == .table }

  /// The rows to list: the limit, else a page for a person and everything for a pipe.
  func rows(_ limit: Limit?) -> Int? {
    switch limit {
    case .count(let count): count
    case .all: nil
    case nil where isForPerson && settings.rowLimit != nil: settings.rowLimit
    case nil: isForPerson ? min(Self.page, max((host.window()?.rows ?? Self.page) - 3, 5)) : nil
    }
  }

  func list(
    _ selection: Selection, in namespaces: [Store.Namespace], as form: EntryForm,
    includingExpired: Bool = false
  ) throws {
    // Standard input is read once, so that such a list cannot be continued.
    let most = selection.input == nil || selection.limit != nil ? rows(selection.limit) : nil
    let list = try Listing(
      selection, in: namespaces, for: self, as: form, most: isForPerson ? nil : most,
      includingExpired: includingExpired)
    guard try show(list, most: most) else { return }
    try noteQuotedWords(in: namespaces, ignoringCase: selection.ignoresCase)
    if isForPerson { try suggestOtherMatches(of: selection, in: namespaces) }
  }

  /// Writes the keys of a selection that needs nothing else of the entries.
  func listKeys(_ selection: Selection, in namespace: Store.Namespace) throws {
    var writer = RowWriter(presentation, columns: [Column("key", holdsBytes: true)])
    let isPrefix = selection.patterns.isEmpty
    var left = if case .count(let count) = selection.limit { count } else { Int.max }
    for case .prefix(let prefix) in selection.ranges {
      var last = selection.after
      while left > 0 {
        var rows: [[Cell]] = []
        try namespace.scanKeys(prefix: prefix, after: last.map { try namespace.cursor(after: $0) })
        {
          try host.checkInterruption()
          let key: [UInt8] = $0.bytes
          guard isPrefix || selection.patterns.contains(where: { $0.matches(key) }) else {
            return true
          }
          rows.append([.bytes(key)])
          last = key
          return rows.count < min(left, Self.batch)
        }
        try write(writer.write(rows))
        left -= rows.count
        if rows.count < Self.batch { break }
      }
    }
  }

  /// A pattern that matched no key may have the wrong case, or be text of a value.
  private func suggestOtherMatches(
    of selection: Selection, in namespaces: [Store.Namespace]
  ) throws {
    guard !selection.ignoresCase, selection.patterns.count == 1,
      case .glob(let glob) = selection.patterns[0], case let text = glob.longestLiteral,
      text.count > 1
    else { return }
    let pattern = try glob.ignoringCase
    let finder = try TextFinder(text, isExact: false, pause: queries.pause)
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
    try host.notify("note: no keys match; \(parts.joined())")
  }

  private static let suggestionTime = Duration.milliseconds(50)
  private static let largestSearched = 1_000_000

  /// Lists the next entries, and keeps the rest for `more`.
  ///
  /// - Parameter most: The number of rows; nil for all.
  ///
  /// - Returns: The list had no entry.
  @discardableResult
  func show(_ list: Listing, most: Int?) throws -> Bool {
    var list = list
    let presentation = presentation
    var writer = RowWriter(presentation, columns: list.form.columns, isLong: list.form.isLong)
    var left = most ?? .max
    // An error in the first batch comes before any output.
    var rows = try nextRows(of: &list, min(left, Self.batch))
    if presentation.mode.isForPerson, presentation.mode != .markdown, rows.isEmpty {
      try write(presentation.lines(["no entries"]))
    }
    if left <= Self.batch || rows.count < Self.batch { writer.total = rows.count }
    let isEmpty = rows.isEmpty
    try write(writer.begin())
    while !rows.isEmpty {
      left -= rows.count
      try write(writer.write(rows))
      rows = try nextRows(of: &list, min(left, Self.batch))
    }
    try write(writer.end())
    listing = nil
    if presentation.mode == .table, most != nil, !list.isOnce { try keepRest(list) }
    return isEmpty
  }

  private func nextRows(of list: inout Listing, _ most: Int) throws -> [[Cell]] {
    let form = list.form
    let clock = wallClock
    guard !form.shown.isEmpty else { return try list.next(most).map { form.cells($0, clock) } }
    guard most > 0 else { return [] }
    var rows: [[Cell]] = []
    try list.advance(in: store) { entry, value in
      try host.checkInterruption()
      rows.append(form.row(entry, value, clock, queries))
      return rows.count < most
    }
    return rows
  }

  private func keepRest(_ list: Listing) throws {
    var rest = list
    var count = 0
    var isCounted = false
    let start = ContinuousClock.now
    while !isCounted, count < Self.countedRest,
      count == 0 || ContinuousClock.now - start < Self.countingTime
    {
      let found = try rest.next(Self.batch)
      count += found.count
      isCounted = found.count < Self.batch
    }
    guard count > 0 else { return }
    listing = list
    let mark = settings.hasUnicode ? "\u{2026}" : "..."
    let over = isCounted ? "" : "over "
    try write(
      presentation.lines(["\(mark) \(over)\(Wording.count(count)) more: `more`, or --limit all"]))
  }
}
