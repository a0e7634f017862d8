import Larder
import ShellLanguage

/// A command that changes the entries of a selection: its preview, confirmation, batches and answer.
struct EntryChange {
  /// Changes an entry, and returns the effect for the report. A batch may run twice, so the closure must not keep state.
  typealias Change<Effect> = (
    _ batch: inout WriteBatch, _ namespace: Store.Namespace, _ entry: Store.Entry
  ) throws -> Effect?

  let call: Invocation
  let session: Session
  private(set) var scope: Scope
  private(set) var summary: ChangeSummary
  /// The verb in the past, such as `evicted`, for the message after an interruption.
  private let past: String
  /// Whether the other entries change if a listed key does not exist.
  private let skipsMissing: Bool
  private let missing: [[UInt8]]
  private let listed: Int
  /// The number of entries in the question; nil if no question was asked.
  private var expected: Int?
  /// The moment at which the count for the question or the export began. Values that were written later must not change.
  private var horizon: WriteHorizon?
  /// The hashes of the entries that `--save` has exported; nil without `--save`.
  private var saved: Set<Int>?

  init(
    _ verb: String, phrase: String? = nil, past: String, skipsMissing: Bool = false,
    _ call: Invocation, in session: Session
  ) throws {
    self.call = call
    self.session = session
    self.past = past
    self.skipsMissing = skipsMissing
    scope = try Scope(of: call, in: session)
    if [.lines, .nulSeparated].contains(scope.selection.input), scope.namespaces.count > 1 {
      throw ShellError(
        .usage, "the keys of standard input do not name their namespaces",
        hint: "name one namespace, or pipe `keys -o jsonl` into `\(verb) --stdin --json`")
    }
    let named = scope.selection.input == .namedRecords ? [] : scope.namespaces.map(\.name)
    summary = ChangeSummary(verb, phrase: phrase, in: named, listsKeys: call.has("--verbose"))
    listed = scope.selection.patterns.count { !$0.isGlob }
    missing = try scope.missingKeys()
  }

  /// Answers `--dry-run` and returns false, or asks for confirmation and returns true. Throws if the person declines.
  ///
  /// Throws if a listed key, perhaps a misspelt word of the time, does not exist; with `skipsMissing` only after the answer.
  ///
  /// - Parameters:
  ///   - note: A sentence about the loss of entries. With a note, even a change of listed keys needs confirmation.
  ///   - fields: Fields of the answer to `--dry-run` after the counts. Called after `wouldChange` has seen all entries.
  mutating func prepare(
    note: SafeText? = nil, fields: (ChangeSummary) -> [ChangeSummary.Field] = { _ in [] },
    where wouldChange: (Store.Entry) throws -> Bool = { _ in true }
  ) throws -> Bool {
    guard missing.isEmpty || skipsMissing else { throw try notFound() }
    if call.isPreview {
      let found = try counted(where: wouldChange)
      try answer(found.preview(found.counts + fields(found)), absent: found.absent)
      return false
    }
    var confirmation = Confirmation(call: call, session: session)
    if confirmation.isGiven { return true }
    if scope.selection.input != nil { try takeSingleKey() }
    let listsKeys = scope.selection.listsKeys || scope.input != nil
    if isEmpty || listsKeys && note == nil { return true }
    confirmation.isSweeping = scope.selection.namespaces == .all
    horizon = try WriteHorizon(of: session.store)
    let found = try counted(where: wouldChange)
    // `evict` skips missing keys, and a note tells of lost values. Other changes keep the values.
    try confirmation.require(found, note: note ?? "", losesValues: skipsMissing || note != nil)
    expected = found.total.entries
    return true
  }

  /// Exports the entries to the file of `--save` before their removal. Entries that are written after `horizon` are not removed.
  /// At the removal the selection may find other entries, for example with `--limit`. These entries are not removed either.
  mutating func save() throws {
    guard call.has("--save"), !isEmpty else { return }
    horizon = try horizon ?? WriteHorizon(of: session.store)
    try scope.keepInput()
    var saved: Set<Int> = []
    try scope.save(call) { saved.insert(EntryID($0).hashValue) }
    self.saved = saved
  }

  /// Reads standard input up to a second key. A single key needs no `--yes`, like a key on the command line. Several keys, a
  /// pattern or a filter need `--yes`: standard input has the keys, so a person cannot answer a question there.
  private mutating func takeSingleKey() throws {
    let refusal = Confirmation(call: call, session: session)
      .refusal(to: "\(summary.verb) keys from standard input")
    guard scope.selection.filters.isEmpty, let kind = scope.selection.input,
      !scope.selection.patterns.contains(where: \.isGlob)
    else { throw refusal }
    var input = try IncomingKeys(kind, from: session.host)
    let first = try input.next()
    guard try input.next() == nil else { throw refusal }
    scope.input = IncomingKeys([first].compactMap(\.self))
  }

  /// Whether neither the words nor standard input have a key.
  private var isEmpty: Bool { scope.selection.patterns.isEmpty && scope.input?.isEmpty ?? false }

  /// Changes the entries, in a transaction for each batch. An interruption stops the change between two batches.
  ///
  /// If an entry that a filter chose gets another value or expiry before its change, the entry is skipped. `record` gets each
  /// effect after the commit, and returns whether the entry counts as changed.
  mutating func apply<Effect>(
    losesValues: Bool = false, _ change: Change<Effect>, record: (Effect) -> Bool = { _ in true }
  ) throws {
    func done() -> (entries: Int, words: SafeText) {
      let count = summary.total.entries
      let all = expected.map { "\(Wording.count(count)) of \(Wording.entries($0))" }
      return (count, "\(past) \(all ?? Wording.entries(count))")
    }
    try ShellError.reporting(done) {
      let walked = try scope.walk { entry, _ in
        entry.withoutExtras
      } _: { entries in
        // A walk gives up to 16 MB and one more entry, which may be large. The values for undo may be larger than their stored form.
        for part in entries.batches({ losesValues ? max($0.size, $0.storedSize) : $0.storedSize }) {
          if losesValues {
            try session.undo.read(part.map { (session.store.namespace($0.namespace), $0.key) })
          }
          let effects = try session.write { batch in
            try part.compactMap { chosen -> (Store.Entry, Effect)? in
              let namespace = session.store.namespace(chosen.namespace)
              guard let present = try batch.entry(for: chosen.key, in: namespace),
                isSame(present, as: chosen), let effect = try change(&batch, namespace, present)
              else { return nil }
              session.undo.keep(present, under: chosen.key, in: namespace)
              return (present, effect)
            }
          }
          summary.matched += effects.count
          for (entry, effect) in effects where record(effect) { summary.add(entry) }
          try session.host.checkInterruption()
        }
      }
      if scope.selection.input != nil { summary.absent = walked.absent }
      try noteDamage(walked)
    }
  }

  private func isSame(_ present: Store.Entry, as chosen: Store.Entry) -> Bool {
    if let horizon, !horizon.covers(present) { return false }
    if let saved, !saved.contains(EntryID(present).hashValue) { return false }
    guard session.isChosen(present) else { return false }
    return scope.selection.filters.isEmpty
      || (present.version, present.expires) == (chosen.version, chosen.expires)
  }

  func answer(_ sentence: SafeText, _ fields: [ChangeSummary.Field] = []) throws {
    let words = summary.matched == 0 ? "no entries matched" : sentence
    try answer(summary.reply(words, fields), absent: summary.absent)
  }

  /// Writes the answer, and then throws if a listed key does not exist. If no listed key exists, throws without an answer.
  private func answer(_ reply: Reply, absent: Int?) throws {
    if !missing.isEmpty, missing.count == listed, scope.selection.isOfKeys { throw try notFound() }
    if call.isPreview || !session.settings.isQuiet { try session.output.answer(reply) }
    // In plain output, a note tells the number of absent keys from standard input. In other modes, the answer has this number.
    if session.output.presentation.mode == .plain, let absent, absent > 0 {
      try session.host.notify("note: \(ChangeSummary.notFound(absent))")
    }
    if !missing.isEmpty { throw try notFound() }
  }

  private func notFound() throws -> ShellError {
    try session.noSuchKeys(missing, of: listed, in: scope.namespaces, verb: call.command.name)
  }

  private func counted(where wouldChange: (Store.Entry) throws -> Bool) throws -> ChangeSummary {
    var found = summary
    let walked = try scope.visitEntries {
      guard session.isChosen($0) else { return }
      found.matched += 1
      if try wouldChange($0) { found.add($0) }
    }
    if scope.selection.input != nil { found.absent = walked.absent }
    // After a question, the change itself writes the note.
    if call.isPreview { try noteDamage(walked) }
    return found
  }

  /// A listed key with a damaged entry is an error, so a selection of keys gets no note.
  private func noteDamage(_ walked: Walked) throws {
    if !scope.selection.isOfKeys { try walked.noteDamage(session.host) }
  }
}
