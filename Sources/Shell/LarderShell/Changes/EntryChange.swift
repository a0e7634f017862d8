import Larder
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
  /// From before the entries were counted for a question: those written since then were not part of it.
  private var horizon: WriteHorizon?
  /// A key from standard input takes the place of the option.
  private var hasInputKey = false
  private var isEmpty = false
  private var keys: [JSON] = []

  init(_ verb: String, past: String, _ call: Invocation, in session: Session) throws {
    self.call = call
    self.session = session
    self.past = past
    let scope = try Scope(of: call, in: session)
    self.scope = scope
    summary = ChangeSummary(verb)
    var listed = 0
    missing = try scope.selection.patterns.compactMap { pattern in
      guard case .key(let key) = pattern else { return nil }
      listed += 1
      return try scope.namespaces.allSatisfy { try $0.entry(for: key) == nil } ? key : nil
    }
    self.listed = listed
    for namespace in scope.namespaces { summary.begin(namespace.name) }
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
    let (found, keys) = try counted(where: wouldChange)
    var all = found.counts + fields()
    if call.has("--verbose") { all.append(("keys", .json(.array(keys)))) }
    try session.output.answer(found.preview(all, for: session.output.presentation))
    try noteAbsent(found)
    return true
  }

  /// Applies the rule for bulk changes.
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
    let (found, _) = try counted(where: wouldChange)
    try confirmation.require(found, note: note)
    expected = found.total.entries
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
    if let first {
      scope.selection.patterns.append(.key(first))
      if try scope.namespaces.allSatisfy({ try $0.entry(for: first) == nil }) { summary.absent = 1 }
    } else {
      isEmpty = scope.selection.patterns.isEmpty
    }
  }

  /// Changes the entries, a transaction for each batch.
  ///
  /// An entry that a filter chose and that was written again since is another entry, and stays.
  /// An interruption ends the change between two batches.
  ///
  /// - Parameter record: Takes each effect once it is committed; true if the entry counts as changed.
  mutating func apply<Effect>(
    _ change: Change<Effect>, record: (Effect) -> Bool = { _ in true }
  ) throws {
    guard !isEmpty else { return }
    do {
      let piped = try scope.forEachBatch { entries in
        let effects = try session.write { batch in
          try entries.compactMap { entry -> (Store.Entry, Effect)? in
            let namespace = session.store.namespace(entry.namespace)
            guard let present = try batch.entry(for: entry.key, in: namespace),
              isSame(present, as: entry)
            else { return nil }
            return try change(&batch, namespace, present).map { (present, $0) }
          }
        }
        for (entry, effect) in effects where record(effect) {
          summary.add(entry)
          if call.has("--verbose") { keys.append(.key(entry)) }
        }
        try session.host.checkInterruption()
      }
      if scope.selection.input != nil { summary.absent = piped.absent }
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
    _ fields: [ChangeSummary.Field], _ sentence: SafeText, unmatched: Bool? = nil
  ) throws {
    if !missing.isEmpty, missing.count == listed, scope.selection.isOfKeys, !hasInputKey {
      throw try notFound
    }
    var fields = fields
    if call.has("--verbose") { fields.append(("keys", .json(.array(keys)))) }
    let isUnmatched = unmatched ?? (summary.total.entries == 0)
    try session.output.acknowledge(
      summary.reply(
        fields, isUnmatched ? "no entries matched" : sentence, for: session.output.presentation))
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

  private func counted(
    where wouldChange: (Store.Entry) throws -> Bool
  ) throws -> (ChangeSummary, keys: [JSON]) {
    var found = ChangeSummary(summary.verb)
    var keys: [JSON] = []
    for namespace in scope.namespaces { found.begin(namespace.name) }
    guard !isEmpty else { return (found, []) }
    let piped = try scope.forEachEntries { entries in
      for entry in entries where try session.isChosen(entry) && wouldChange(entry) {
        found.add(entry)
        if call.has("--verbose") { keys.append(.key(entry)) }
      }
    }
    if scope.selection.input != nil { found.absent = piped.absent }
    return (found, keys)
  }
}
