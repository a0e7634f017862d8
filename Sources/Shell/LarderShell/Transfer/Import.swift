import Larder
import LarderSystem
import ShellLanguage

/// Stores the lines of an export or the rows of a CSV file. Each batch of lines is one transaction.
struct Import {
  /// The treatment of a line whose key already has an entry.
  enum Conflict: String, CaseIterable {
    /// The entry with the later time of writing stays.
    case newer
    case keep, replace, fail
  }

  struct Counts {
    var added = Tally()
    var replaced = Tally()
    /// The number of lines that were not stored, because the key has an entry (with `newer`: an entry that is not older).
    var skipped = 0
    var expired = 0
    /// The number of lines that were not stored, because they belong to a shared tier.
    var shared = 0
    var done = ChangeSummary("import")
    var all: Int { added.entries + replaced.entries + skipped + expired + shared }
  }

  private static let entriesPerBatch = 2000
  private static let bytesPerBatch = 8_000_000

  private(set) var lines: ExportReader
  let conflict: Conflict
  /// Whether the import only reads, checks and counts the lines, without storing them.
  let isDry: Bool
  let session: Session
  /// The time of writing for a line that has none. Entries that others write during the import are newer than such a line.
  let began: Timestamp
  /// For a dry run: the rules that namespaces would have after the import.
  private(set) var rules: [ExactString: Rules] = [:]
  private(set) var waiting: [(entry: ImportedEntry, line: Int)] = []
  private(set) var waitingBytes = 0
  private(set) var counts = Counts()
  /// The number of namespaces that the import has created because of lines with rules.
  private(set) var declared = 0
  private(set) var lastLine = 0
  /// The number of entries that limits have evicted during the import, also entries of the import.
  private(set) var evicted = 0

  /// The number of entries that limits have ever evicted; nil if the counters cannot be read.
  private var evictions: UInt64? {
    try? session.store.tallies().reduce(0 as UInt64) { $0 &+ $1.removals.evicted }
  }

  mutating func run() throws {
    let former = isDry ? nil : evictions
    do {
      try ProgressLine.show("importing", of: lines.input.size, unit: Wording.size, in: session) {
        progress in
        var before = lines.bytes
        while let line = try lines.next() {
          let size = lines.bytes - before + replacedSize(line)
          before = lines.bytes
          if waitingBytes + size > Self.bytesPerBatch { try flush() }
          waitingBytes += size
          try take(line)
          if waiting.count >= Self.entriesPerBatch { try flush() }
          try progress.reach(lines.bytes)
        }
        try flush()
      }
    } catch let mistake as ExportReader.Mistake {
      throw lines.error(mistake, hint: before)
    } catch let error as ShellError where counts.all > 0 || declared > 0 {
      // The file could not be read to its end.
      throw ShellError(error.code, error.message, hint: before)
    } catch is Interruption {
      throw ShellError(
        .interrupted, "interrupted after line \(lastLine) of \(lines.name): \(words)",
        hint: isDry ? nil : "what was imported stays; run it again to go on")
    }
    if let former, let now = evictions, now > former { evicted = Int(clamping: now - former) }
  }

  private mutating func take(_ line: ImportLine) throws {
    switch line {
    case .head: throw ExportReader.Mistake(reason: "a second export begins here", line: lines.line)
    case .namespace(let name, let rules, let overrides):
      do { try declare(name, rules, overrides) } catch { throw located(error, line: lines.line) }
    case .entry(let entry): waiting.append((entry, lines.line))
    }
  }

  /// Whether an entry belongs to a shared tier.
  private func isOfTier(_ entry: ImportedEntry, _ present: Store.Entry?) throws -> Bool {
    switch entry.namespace {
    case Store.tierState: return true
    // A removal that waits in another store must not replace a removal that waits in this store.
    case Store.tierOutbox: return present != nil
    default: return try session.store.namespace(entry.namespace).isOfTier(entry.attributes.metadata)
    }
  }

  /// The size of the present value, which `undo` reads before the batch.
  private func replacedSize(_ line: ImportLine) -> Int {
    guard session.undo.isRecording, case .entry(let entry) = line else { return 0 }
    return (try? session.store.namespace(entry.namespace).entry(for: entry.key))?.size ?? 0
  }

  /// Creates a namespace with rules. An existing namespace keeps its rules, because an application may have declared them.
  private mutating func declare(
    _ name: String, _ rules: Rules, _ overrides: Rules.Overrides?
  ) throws {
    let namespace = session.store.namespace(name)
    guard try namespace.info() == nil else { return }
    if isDry {
      let effective = overrides?.applied(to: rules) ?? rules
      try namespace.check(rules)
      try namespace.check(effective)
      self.rules[ExactString(name)] = effective
    } else {
      try session.write { batch in
        try batch.declare(rules, for: namespace)
        if let overrides { try batch.override(overrides, for: namespace) }
      }
      session.undo.hasChanged = true
    }
    declared += 1
  }

  private mutating func flush() throws {
    guard !waiting.isEmpty else { return }
    // An error before the first entry has the line at which the batch begins.
    var (counts, line) = (counts, waiting[0].line)
    // Sorts the lines by key. Neighbouring entries are in the same pages of the store, so the batch writes fewer pages.
    waiting.sort {
      ($0.entry.namespace, Key($0.entry.key)) < ($1.entry.namespace, Key($1.entry.key))
    }
    do {
      if isDry {
        let limits = try session.store.limits().effective
        for (entry, number) in waiting {
          line = number
          let namespace = session.store.namespace(entry.namespace)
          let present = try namespace.entry(for: entry.key)
          guard try decide(entry, present, &counts) else { continue }
          let name = ExactString(entry.namespace)
          let known = try rules[name] ?? namespace.info()?.rules ?? Rules()
          rules[name] = known
          try namespace.check(
            entry.value.count, for: entry.key, entry.attributes, under: known, limits)
        }
      } else {
        try session.undo.read(
          waiting.map { (session.store.namespace($0.entry.namespace), Key($0.entry.key)) })
        try session.write { batch in
          counts = self.counts
          for (entry, number) in waiting {
            line = number
            let namespace = session.store.namespace(entry.namespace)
            let present = try batch.entry(for: entry.key, in: namespace)
            guard try decide(entry, present, &counts) else { continue }
            session.undo.keep(present, under: Key(entry.key), in: namespace)
            try batch.set(entry.value, for: entry.key, in: namespace, entry.attributes)
          }
        }
      }
    } catch { throw located(error, line: line) }
    self.counts = counts
    lastLine = waiting.map(\.line).max() ?? lastLine
    (waiting, waitingBytes) = ([], 0)
  }

  private func decide(
    _ entry: ImportedEntry, _ present: Store.Entry?, _ counts: inout Counts
  ) throws -> Bool {
    counts.done.add(Tally(), in: entry.namespace)
    if try isOfTier(entry, present) {
      counts.shared += 1
      return false
    }
    if let end = entry.end, end <= session.clock.now {
      counts.expired += 1
      return false
    }
    let tally = Tally(entries: 1, bytes: entry.value.count)
    guard let present, present.state != .expired else {
      counts.added += tally
      counts.done.add(tally, in: entry.namespace)
      return true
    }
    let replaces: Bool
    switch conflict {
    case .replace: replaces = true
    case .keep: replaces = false
    // The store records the present time in place of a future time of writing, so the comparison uses `began` for a future time.
    case .newer: replaces = min(entry.attributes.written ?? began, began) > present.written
    case .fail:
      throw ShellError(.exists, "there is an entry \(entry.key) in \(entry.namespace)", hint: nil)
    }
    guard replaces else {
      counts.skipped += 1
      return false
    }
    counts.replaced += tally
    counts.done.add(tally, in: entry.namespace)
    return true
  }

  private func located(_ error: any Error, line: Int) -> any Error {
    let known = (error as? LarderError).map { ShellError($0) } ?? error as? ShellError
    guard let known else { return error }
    return ExportReader.Mistake(code: known.code, reason: known.message, line: line)
  }

  /// The result of the lines before an error, in words for the error.
  private var before: SafeText {
    if counts.all > 0 { return "before it: \(words)" }
    return declared == 0
      ? "nothing was imported"
      : "before it: the rules of \(Wording.count(declared, "namespace", "namespaces"))"
  }

  /// Words such as `imported 237 of 240: 228 added, 9 newer, 3 already expired`.
  var words: SafeText {
    var parts = ["\(Wording.count(counts.added.entries)) added"]
    func add(_ count: Int, _ what: String) {
      if count > 0 { parts.append("\(Wording.count(count)) \(what)") }
    }
    add(counts.replaced.entries, conflict == .newer ? "newer" : "replaced")
    add(counts.skipped, conflict == .newer ? "no newer than what is there" : "there already")
    add(counts.expired, "already expired")
    add(counts.shared, "of a shared tier")
    let stored = counts.added.entries + counts.replaced.entries
    let all = stored == counts.all ? "" : " of \(Wording.count(counts.all))"
    return
      "\(isDry ? "would import" : "imported") \(Wording.count(stored))\(all): \(parts.joined(separator: ", "))"
  }

  var remarks: [SafeText] {
    let kept: [(count: Int, reason: SafeText)] = [
      (
        conflict == .newer ? counts.skipped : 0,
        "the entries there are as new; `--on-conflict replace` stores them"
      ),
      (counts.expired, "expired already"),
      (counts.shared, "copies of a shared tier"),
    ]
    let notes: [SafeText] = kept.filter { $0.count > 0 }.map {
      "note: \(Wording.count($0.count, "line", "lines")) kept back: \($0.reason)"
    }
    return evicted == 0
      ? notes : notes + ["note: limits evicted \(Wording.entries(evicted)) meanwhile: see `limits`"]
  }
}
