import Larder
import LarderSystem
import ShellLanguage

/// The entries to which a command applies: a selection in namespaces that exist.
struct Scope {
  var selection: Selection
  let namespaces: [Store.Namespace]
  let session: Session
  /// The keys of standard input with their namespaces, if they were read before the walk.
  var input: IncomingKeys?

  var namesNamespaces: Bool { namespaces.count > 1 }

  func total() throws -> Int { try namespaces.map { try $0.count() }.reduce(0, +) }

  /// The scope without its limit, for a command that applies the limit to its results.
  var unlimited: Scope {
    var unlimited = self
    unlimited.selection.limit = nil
    return unlimited
  }
}

extension Scope {
  init(all namespaces: [Store.Namespace], in session: Session) {
    self.init(selection: Selection(namespaces: .all), namespaces: namespaces, session: session)
  }

  /// - Parameter wholeByDefault: Whether the command means the whole store if neither the line nor `use` names a namespace.
  init(of call: Invocation, in session: Session, wholeByDefault: Bool = false) throws {
    guard var selection = call.selection else {
      preconditionFailure("\(call.command.name) takes no selection")
    }
    // A read with a quoted word does not mean a namespace.
    if let name = try Self.bareNamespace(selection, in: session),
      call.command.access != .reads
        || call.line.words.dropFirst().contains(where: { $0.bareText == name.text })
    {
      guard call.command.access == .reads else {
        let word = Word(Array(name.text.utf8), isBare: true, at: 0..<0)
        // A system shell would remove the quotes of a name such as `*`, so the hint for such a name is `-n`.
        let needsOption = session.line?.source == .command && word.isGlob
        throw ShellError(
          .noSuchKey, "no entry \(word.bytes); it names a namespace",
          hint: needsOption
            ? "`-n NAME` before the command names it"
            : "`\(call.command.name) \(Quoting.namespace(name.text))`")
      }
      try session.host.notify("note: reading namespace \(name.text)")
      selection.namespaces = .named([name])
      selection.patterns = []
    }
    var namespaces = selection.namespaces
    if namespaces == .unnamed, session.current == nil {
      if selection.isOfRecords, try session.store.namespaces().count > 1 {
        selection.input = .namedRecords
        namespaces = .all
      } else if wholeByDefault {
        selection.namespaces = .all
        namespaces = .all
      }
    }
    let list = call.command.access == .changes ? session.namespacesToChange : session.namespaces
    self.init(selection: selection, namespaces: try list(namespaces), session: session)
  }

  /// The namespace that the only word of a selection names; nil if this word is a key.
  private static func bareNamespace(
    _ selection: Selection, in session: Session
  ) throws -> NamespaceName? {
    let (store, current) = (session.store, session.current)
    guard case .unnamed = selection.namespaces, selection.patterns.count == 1,
      case .key(let key) = selection.patterns[0], selection.input == nil,
      let text = String(validating: key, as: UTF8.self), !text.isExactly(current),
      let name = try? NamespaceName(text), try store.namespace(text).info() != nil
    else { return nil }
    let existing = try current.map { [$0] } ?? store.namespaces().map(\.name)
    guard existing.count == 1 else { return name }
    return try store.namespace(existing[0]).entry(for: key) == nil ? name : nil
  }

  /// Listed keys without an entry that meets `passes`. An expired entry counts only if the selection asks for expired entries.
  func missingKeys(_ passes: (Store.Entry) -> Bool = { _ in true }) throws -> [[UInt8]] {
    let seesExpired = selection.wantsExpired
    return try selection.patterns.compactMap { pattern in
      guard case .key(let key) = pattern else { return nil }
      let isMissing = try namespaces.allSatisfy { namespace in
        try namespace.entry(for: key).map {
          $0.state == .expired && !seesExpired || !passes($0)
        } ?? true
      }
      return isMissing ? key : nil
    }
  }

  /// Reads all keys from standard input, which can be read only once. The scope can then be walked twice.
  mutating func keepInput() throws {
    guard input == nil, let kind = selection.input else { return }
    var incoming = try IncomingKeys(kind, from: session.host)
    var items: [IncomingKeys.Item] = []
    while let item = try incoming.next() {
      try session.host.checkInterruption()
      items.append(item)
    }
    input = IncomingKeys(items)
  }

  func save(_ call: Invocation, noting note: (Store.Entry) -> Void = { _ in }) throws {
    guard let path = call.bytes("--save") else { return }
    let writer = try session.host.make(LocalFile.path(path), false)
    let done = try export(
      as: .jsonl, to: writer, unfinished: "nothing was removed, and the file was not created",
      noting: note
    ).done
    try session.host.notify("saved \(done.words) to \(path)")
  }

  /// Throws if the selection lists keys, and one of these keys is in none of the namespaces.
  func checkKeys(verb: String) throws {
    guard selection.isOfKeys else { return }
    for case .key(let key) in selection.patterns
    where try namespaces.allSatisfy({ try $0.entry(for: key) == nil }) {
      throw try session.noSuchKey(key, in: namespaces, verb: verb)
    }
  }
}
