import Larder
import ShellLanguage

extension Session {
  /// What a person sees at once when no limit was given.
  private static let page = 50
  /// How far the rest of a cut list is counted, and for how long at most.
  private static let countedRest = 10_000
  private static let countingTime = Duration.milliseconds(4)
  /// How many rows are read, written and forgotten at a time.
  private static let batch = 500

  /// Answers are read by a person.
  var isForPerson: Bool { presentation.mode == .table }

  /// How many rows to list: what was asked for, else a page for a person and everything for a pipe.
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
    // Keys from outside are read once, so there is no going on later.
    let most = selection.input == nil || selection.limit != nil ? rows(selection.limit) : nil
    let list = try Listing(
      selection, in: namespaces, for: self, as: form, most: isForPerson ? nil : most,
      includingExpired: includingExpired)
    try show(list, most: most)
  }

  /// Lists the next entries, and keeps the rest for `more`.
  ///
  /// - Parameter most: How many; nil is all.
  func show(_ list: Listing, most: Int?) throws {
    var list = list
    let presentation = presentation
    var writer = RowWriter(presentation, columns: list.form.columns, isLong: list.form.isLong)
    var left = most ?? .max
    // What fails at once fails before anything is printed.
    var entries = try list.next(min(left, Self.batch))
    if presentation.mode == .table, entries.isEmpty {
      try write(presentation.lines(["no entries"]))
    }
    try write(writer.begin())
    while !entries.isEmpty {
      left -= entries.count
      let clock = wallClock
      try write(writer.write(entries.map { list.form.cells($0, clock) }))
      entries = try list.next(min(left, Self.batch))
    }
    try write(writer.end())
    listing = nil
    if presentation.mode == .table, most != nil, !list.isOnce { try keepRest(list) }
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
      presentation.lines(["\(mark) \(over)\(Wording.count(count)) more: more, --limit all"]))
  }
}
