import Larder
import LarderSystem
import ShellLanguage

extension Session {
  /// The namespaces that a choice means, without repetitions. Throws if a namespace of the choice does not exist.
  func namespaces(_ choice: NamespaceChoice) throws -> [Store.Namespace] {
    var choice = choice
    // The namespace of `use` may have been removed, so this namespace gets the same check as a namespace in the line.
    if choice == .unnamed, let current { choice = .named([try NamespaceName(current)]) }
    guard case .named(let names) = choice else {
      let existing = try store.namespaces().map(\.name)
      guard choice == .all || existing.count == 1 else {
        throw NamespaceChoice.unclear(
          among: existing,
          remedy: line?.source == .command ? "`-n NAME` before the command" : "`use NAME` first")
      }
      return existing.map(store.namespace)
    }
    for name in names where try store.namespace(name.text).info() == nil {
      let error = NamespaceChoice.absent(name, existing: try store.namespaces().map(\.name))
      let named = line?.arguments.count { if case .namespace = $0 { true } else { false } } ?? 0
      guard named > 1 else { throw error }
      throw ShellError(
        error.code, error.message, at: error.range,
        hint: "a key that begins with @ goes behind --: `-- @\(name.text)`")
    }
    var seen: Set<ExactString> = []
    return names.map(\.text).filter { seen.insert(ExactString($0)).inserted }.map(store.namespace)
  }

  /// The namespaces that a change means. `@*` means neither the records of a shared tier nor the dictionaries of values.
  func namespacesToChange(_ choice: NamespaceChoice) throws -> [Store.Namespace] {
    let kept = [Store.tierState, Store.tierOutbox, TransformContext.storage]
    return try namespaces(choice).filter { choice != .all || !kept.contains($0.name) }
  }

  func namespace(_ choice: NamespaceChoice) throws -> Store.Namespace { try namespaces(choice)[0] }

  /// The namespaces with the counts that most answers show. Expired entries that are still in the file do not count.
  ///
  /// - Parameter isQuick: If true, more than `mostQuick` expired entries of a namespace count, so that a greeting need not wait.
  func livingNamespaces(isQuick: Bool = false) throws -> [NamespaceInfo] {
    try store.namespaces().map { info in
      let namespace = store.namespace(info.name)
      if isQuick, try namespace.keys(endingBy: clock.now, atMost: Self.mostQuick) == nil {
        return info
      }
      let living = try Tally(info) - Scope(all: [namespace], in: self).expired()
      var info = info
      (info.entries, info.bytes) = (living.entries, living.bytes)
      return info
    }
  }

  private static let mostQuick = 1000

  /// The facts of a namespace. Throws if the namespace was removed after the command began.
  func info(of name: String) throws -> NamespaceInfo {
    guard let facts = try store.namespace(name).info() else {
      throw ShellError.removedMeanwhile(name)
    }
    return facts
  }

  /// The namespace for a write. If the namespace does not exist, the write creates it.
  func namespaceToWrite(_ choice: NamespaceChoice) throws -> Store.Namespace {
    if case .named(let names) = choice { return store.namespace(names[0].text) }
    if let current { return store.namespace(current) }
    return try namespace(choice)
  }

  /// Whether a choice means the whole store. Only for commands that mean the whole store if the line names no namespace.
  func isWhole(_ choice: NamespaceChoice) -> Bool {
    choice == .all || choice == .unnamed && current == nil
  }

  /// The value under one key of one namespace, found with one lookup. Nil if the choice means several namespaces, or if the
  /// choice names no namespace and the key is absent. Throws if a named namespace lacks the key, and if the entry has no value.
  func singleValue(_ key: [UInt8], _ choice: NamespaceChoice) throws -> StoredValue? {
    let namespace: Store.Namespace
    switch choice {
    case .named(let names): namespace = store.namespace(names[0].text)
    case .unnamed:
      let existing = try current.map { [$0] } ?? store.namespaces().map(\.name)
      guard existing.count == 1 else { return nil }
      namespace = store.namespace(existing[0])
    case .all: return nil
    }
    guard let value = try StoredValue.find(key, in: namespace) else {
      guard choice != .unnamed else { return nil }
      throw try noSuchKey(key, in: namespaces(choice))
    }
    try value.entry.checkValue(wallClock)
    return value
  }

  func value(_ key: [UInt8], _ choice: NamespaceChoice) throws -> StoredValue {
    guard let value = try singleValue(key, choice) else {
      throw try noSuchKey(key, in: namespaces(choice))
    }
    return value
  }

  /// Makes the running command skip the values that this program cannot read.
  func skipUnreadable() -> UnreadableValues {
    let values = UnreadableValues(unknownTransforms, notify: host.notify)
    queries.unreadable = values
    return values
  }
}

extension Store.Namespace {
  /// Whether an entry with this metadata is a copy of a shared tier. The log of the tier may have removed such an entry since it
  /// was exported or changed, and the log does not remove the entry again.
  func isOfTier(_ metadata: [UInt8]?) throws -> Bool {
    // A copy has the 24 bytes of its version as metadata.
    try metadata?.count == 24
      && store.namespace(Store.tierState).entry(for: Store.tierNote + name) != nil
  }
}
