import Larder
import LarderSystem
import ShellLanguage

/// A command that changes the entries of a selection: preview, confirmation, batches and answer.
struct EntryChange {
  /// Changes an entry within a batch, and returns the effect for the report; nil if the report has none.
  ///
  /// A batch for which entries are evicted is made twice, so a change keeps nothing itself.
  typealias Change<Effect> = (
    _ batch: inout WriteBatch, _ namespace: Store.Namespace, _ entry: Store.Entry
  ) throws -> Effect?

  let call: Invocation
  let session: Session
  private(set) var scope: Scope
  private(set) var summary: ChangeSummary
  /// `evicted`, for the message after an interruption.
  private let past: String
  private let missing: [[UInt8]]
  private let listed: Int
  /// The number of entries that the change concerned before it began, if they were counted.
  private var expected: Int?
  /// From before the entries were counted for a question or saved: those written since then were no part of that.
  private var horizon: WriteHorizon?
  /// A key from standard input takes the place of the option.
  private var hasInputKey = false
  private var isEmpty = false

  init(_ verb: String, past: String, _ call: Invocation, in session: Session) throws {
    self.call = call
    self.session = session
    self.past = past
    scope = try Scope(of: call, in: session)
    summary = ChangeSummary(
      verb, in: scope.namespaces.map(\.name), listsKeys: call.has("--verbose"))
    listed = scope.selection.patterns.count { !$0.isGlob }
    missing = try scope.missingKeys()
  }

  /// Answers `--dry-run`; false if the change is to be made.
  ///
  /// - Parameters:
  ///   - wouldChange: Whether the change would alter an entry of the selection.
  ///   - fields: The fields in JSON behind the counts, evaluated after `wouldChange` has seen every entry.
  func isPreview(
    where wouldChange: (Store.Entry) throws -> Bool = { _ in true },
    fields: () -> [ChangeSummary.Field] = { [] }
  ) throws -> Bool {
    guard call.has("--dry-run") else { return false }
    let found = try counted(where: wouldChange)
    try session.output.answer(found.preview(adding: fields()))
    try noteAbsent(found)
    return true
  }

  /// Applies the rule for bulk changes, then saves the entries to be removed if the words contain `--save`.
  ///
  /// - Parameters:
  ///   - isBulk: The change needs confirmation even if its words list the keys.
  ///   - note: Text before the question.
  ///   - wouldChange: Whether the change would alter an entry of the selection.
  mutating func confirm(
    isBulk: Bool = false, note: SafeText = "",
    where wouldChange: (Store.Entry) throws -> Bool = { _ in true }
  ) throws {
    var confirmation = Confirmation(call: call, session: session)
    if confirmation.isGiven { return }
    if scope.selection.input != nil { try takeSingleKey() }
    guard isBulk || !scope.selection.listsKeys, !hasInputKey || isBulk, !isEmpty else { return }
    confirmation.isSweeping = scope.selection.namespaces == .all
    horizon = try WriteHorizon(of: session.store)
    let found = try counted(where: wouldChange)
    try confirmation.require(found, note: note)
    expected = found.total.entries
  }

  /// Writes an export of the entries before they are removed, if `--save` names a file. Those written from here on stay.
  mutating func save() throws {
    guard call.has("--save"), !isEmpty else { return }
    horizon = try horizon ?? WriteHorizon(of: session.store)
    try scope.save(call)
  }

  /// Reads up to the second key from standard input. One key counts as listed; several need `--yes`,
  /// because a question is not possible while standard input holds data.
  private mutating func takeSingleKey() throws {
    let refusal = Confirmation.refusal(to: "\(summary.verb) keys from standard input")
    guard scope.selection.filters.isEmpty, let kind = scope.selection.input,
      !scope.selection.patterns.contains(where: \.isGlob)
    else { throw refusal }
    var input = try IncomingKeys(kind, from: session.host)
    let first = try input.next()
    guard try input.next() == nil else { throw refusal }
    scope.selection.input = nil
    hasInputKey = true
    summary.absent = 0
    guard let first else {
      isEmpty = scope.selection.patterns.isEmpty
      return
    }
    if let name = first.namespace {
      scope = scope.narrowed { $0.name.isExactly(name) }
    }
    scope.selection.patterns.append(.key(first.key))
    if try scope.namespaces.allSatisfy({ try !$0.holds(first.key, false) }) { summary.absent = 1 }
  }

  /// Changes the entries, a transaction for each batch.
  ///
  /// An entry that a filter chose and that was written again since is another entry, and stays.
  /// An interruption ends the change between two batches.
  ///
  /// - Parameters:
  ///   - removes: The entries are removed.
  ///   - record: Takes each effect once it is committed; true if the entry counts as changed.
  mutating func apply<Effect>(
    removes: Bool = false, _ change: Change<Effect>, record: (Effect) -> Bool = { _ in true }
  ) throws {
    guard !isEmpty else { return }
    do {
      let walked = try scope.walk { entry, _ in
        entry.withoutExtras
      } _: { entries in
        let effects = try session.change(entries, removes: removes) {
          batch, present, chosen -> Effect? in
          guard isSame(present, as: chosen) else { return nil }
          return try change(&batch, session.store.namespace(present.namespace), present)
        }
        for (entry, effect) in effects where record(effect) { summary.add(entry) }
        try session.host.checkInterruption()
        return true
      }
      if scope.selection.input != nil { summary.absent = walked.piped.absent }
    } catch is Interruption {
      throw interrupted
    }
  }

  private func isSame(_ present: Store.Entry, as chosen: Store.Entry) -> Bool {
    if let horizon, !horizon.covers(present) { return false }
    guard session.isChosen(present) else { return false }
    return scope.selection.filters.isEmpty
      || (present.version, present.expires) == (chosen.version, chosen.expires)
  }

  private var interrupted: ShellError {
    let done = summary.total.entries
    let count: SafeText =
      expected.map { "\(Wording.count(done)) of \(Wording.entries($0))" }
      ?? "\(Wording.entries(done))"
    return ShellError(
      .interrupted, "interrupted: \(past) \(count); the rest is unchanged", hint: nil)
  }

  /// Answers, then throws if a listed key does not exist.
  ///
  /// - Parameters:
  ///   - fields: The fields in JSON behind the counts.
  ///   - unmatched: The change concerned no entry.
  func answer(
    _ sentence: SafeText, _ fields: [ChangeSummary.Field] = [], unmatched: Bool? = nil
  ) throws {
    if !missing.isEmpty, missing.count == listed, scope.selection.isOfKeys, !hasInputKey {
      throw try notFound
    }
    let isUnmatched = unmatched ?? (summary.total.entries == 0)
    try session.output.acknowledge(
      summary.reply(isUnmatched ? "no entries matched" : sentence, fields))
    try noteAbsent(summary)
    if !missing.isEmpty { throw try notFound }
  }

  /// A plain answer has no place for the keys from standard input that do not exist.
  private func noteAbsent(_ summary: ChangeSummary) throws {
    guard session.output.presentation.mode == .plain, let absent = summary.absent, absent > 0 else {
      return
    }
    try session.host.notify("note: \(ChangeSummary.notFound(absent))")
  }

  private var notFound: ShellError {
    get throws {
      try ShellError.noSuchKeys(
        missing, of: listed, in: scope.namespaces, verb: call.command.name, line: session.line)
    }
  }

  private func counted(where wouldChange: (Store.Entry) throws -> Bool) throws -> ChangeSummary {
    var found = ChangeSummary(
      summary.verb, in: scope.namespaces.map(\.name), listsKeys: call.has("--verbose"))
    guard !isEmpty else { return found }
    let walked = try scope.visitEntries {
      if try session.isChosen($0) && wouldChange($0) { found.add($0) }
    }
    if scope.selection.input != nil { found.absent = walked.piped.absent }
    return found
  }
}
