import Larder
import ShellLanguage

/// Stores the lines of an export, a transaction for each batch.
struct Import {
  /// The rule for an entry whose key exists.
  enum Conflict: String, CaseIterable {
    /// The one that was written later stays.
    case newer
    /// The existing entry stays.
    case keep
    case replace
    /// The import ends.
    case fail
  }

  struct Counts {
    var added = Tally()
    var replaced = Tally()
    /// The existing entry was newer, or was kept.
    var skipped = 0
    var expired = 0
    var all: Int { added.entries + replaced.entries + skipped + expired }
  }

  private static let entriesPerBatch = 2000
  private static let bytesPerBatch = 8_000_000

  private let session: Session
  private let name: SafeText
  private let conflict: Conflict
  private let isDry: Bool
  private var lines: LineSource
  private var waiting: [(entry: ImportedEntry, line: Int)] = []
  private var waitingBytes = 0
  private(set) var counts = Counts()
  /// By namespace, for the acknowledgement.
  private(set) var done: ChangeSummary
  /// The last line that was stored.
  private var lastLine = 0

  init(
    _ lines: LineSource, named name: SafeText, _ conflict: Conflict, isDry: Bool,
    into session: Session
  ) {
    self.lines = lines
    self.name = name
    self.conflict = conflict
    self.isDry = isDry
    self.session = session
    done = ChangeSummary("import")
  }

  mutating func run() throws {
    do {
      try ProgressLine.show("importing", of: lines.size, unit: Wording.size, in: session) {
        progress in
        while let line = try lines.line() {
          try session.host.checkInterruption()
          guard !line.allSatisfy({ $0 == .space || $0 == .tab }) else { continue }
          try take(line)
          if waiting.count >= Self.entriesPerBatch || waitingBytes >= Self.bytesPerBatch {
            try flush()
            try progress.reach(lines.bytes)
          }
        }
        try flush()
      }
    } catch is Interruption {
      throw ShellError(
        .interrupted, "interrupted after line \(lastLine) of \(name): \(words)",
        hint: "what was imported stays; run it again to go on")
    }
  }

  private mutating func take(_ line: [UInt8]) throws {
    let parsed: ImportLine
    do throws(ImportLine.Flaw) {
      parsed = try ImportLine(line)
    } catch {
      throw wrong(error.reason, line: lines.count, column: error.offset + 1)
    }
    if lines.count == 1 {
      guard case .head(let version) = parsed else {
        throw wrong("it does not begin like an export", line: 1, column: 1)
      }
      guard version == ExportFormat.version else {
        throw wrong("it is an export of version \(version)", line: 1, column: 1)
      }
      return
    }
    switch parsed {
    case .head: throw wrong("a second export begins here", line: lines.count, column: 1)
    case .namespace(let name, let rules, let overrides): try declare(name, rules, overrides)
    case .entry(let entry):
      waiting.append((entry, lines.count))
      waitingBytes += entry.value.count + entry.key.count
    }
  }

  /// An existing namespace keeps its rules: an application declared them.
  private func declare(
    _ name: String, _ rules: Rules?, _ overrides: Rules.Overrides?
  ) throws {
    let namespace = session.store.namespace(name)
    guard !isDry, let rules, try namespace.info() == nil else { return }
    try session.write { batch in
      try batch.declare(rules, for: namespace)
      if let overrides { try batch.override(overrides, for: namespace) }
    }
  }

  private mutating func flush() throws {
    guard let last = waiting.last?.line else { return }
    // Sorted by key, so that neighbouring entries go into the same pages.
    waiting.sort {
      if $0.entry.namespace != $1.entry.namespace { return $0.entry.namespace < $1.entry.namespace }
      return $0.entry.key.lexicographicallyPrecedes($1.entry.key)
    }
    var counts = counts
    var done = done
    var line = 0
    do {
      if isDry {
        for (entry, number) in waiting {
          line = number
          let namespace = session.store.namespace(entry.namespace)
          let present = try namespace.entry(for: entry.key)
          _ = try decide(entry, present, &counts, &done)
        }
      } else {
        try session.write { batch in
          (counts, done) = (self.counts, self.done)
          for (entry, number) in waiting {
            line = number
            let namespace = session.store.namespace(entry.namespace)
            let present = try batch.entry(for: entry.key, in: namespace)
            guard try decide(entry, present, &counts, &done) else { continue }
            try batch.set(
              entry.value, for: entry.key, in: namespace, entry.attributes)
          }
        }
      }
    } catch let error as ShellError {
      throw wrong(error.message, error.code, line: line, column: 1)
    } catch let error as LarderError {
      let error = ShellError(error)
      throw wrong(error.message, error.code, line: line, column: 1)
    }
    self.counts = counts
    self.done = done
    lastLine = last
    waiting = []
    waitingBytes = 0
  }

  /// Decides whether the entry is stored, and counts the decision.
  private func decide(
    _ entry: ImportedEntry, _ present: Store.Entry?, _ counts: inout Counts,
    _ done: inout ChangeSummary
  ) throws -> Bool {
    done.begin(entry.namespace)
    if let end = entry.end, end <= session.clock.now {
      counts.expired += 1
      return false
    }
    var tally = Tally()
    tally.entries = 1
    tally.bytes = entry.value.count
    guard let present, present.state != .expired else {
      counts.added += tally
      done.add(tally, in: entry.namespace)
      return true
    }
    let replaces: Bool
    switch conflict {
    case .replace: replaces = true
    case .keep: replaces = false
    case .newer: replaces = entry.attributes.written.map { $0 > present.written } ?? false
    case .fail:
      throw ShellError(
        .exists, "there is an entry \(entry.key) in \(entry.namespace)", hint: nil)
    }
    guard replaces else {
      counts.skipped += 1
      return false
    }
    counts.replaced += tally
    done.add(tally, in: entry.namespace)
    return true
  }

  private func wrong(
    _ reason: SafeText, _ code: ShellError.Code = .usage, line: Int, column: Int
  ) -> ShellError {
    ShellError(
      code, "\(name):\(line):\(column): \(reason)",
      hint: counts.all == 0 ? "nothing was imported" : "before it: \(words)")
  }

  /// The answer to `--dry-run`.
  func preview(_ fields: [ChangeSummary.Field], for presentation: Presentation) -> Reply {
    guard presentation.mode.isForPerson else { return done.preview(fields, for: presentation) }
    return Reply(.object([], []), sentences: [words])
  }

  /// `imported 240: 228 added, 9 newer, 3 already expired`
  var words: SafeText {
    var parts = ["\(Wording.count(counts.added.entries)) added"]
    func add(_ count: Int, _ what: String) {
      if count > 0 { parts.append("\(Wording.count(count)) \(what)") }
    }
    add(counts.replaced.entries, conflict == .newer ? "newer" : "replaced")
    add(counts.skipped, conflict == .newer ? "no newer than what is there" : "there already")
    add(counts.expired, "already expired")
    return
      "\(isDry ? "would import" : "imported") \(Wording.count(counts.all)): \(parts.joined(separator: ", "))"
  }
}
