import Larder
import ShellLanguage

extension Session {
  /// Throws if the words name keys and one of them is nowhere.
  func checkKeys(of selection: Selection, in namespaces: [Store.Namespace]) throws {
    guard selection.isOfKeys else { return }
    for case .key(let key) in selection.patterns
    where try namespaces.allSatisfy({ try $0.entry(for: key) == nil }) {
      throw try noSuchKey(key, in: namespaces[0])
    }
  }

  /// The entry under a key, which must be there, not have expired, and not say that there is nothing.
  func entry(_ key: [UInt8], in namespace: Store.Namespace) throws -> Store.Entry {
    guard let entry = try namespace.entry(for: key) else {
      throw try noSuchKey(key, in: namespace)
    }
    try checkValue(of: entry)
    return entry
  }

  /// Throws if reads miss the entry: its empty value would be taken for one that was stored.
  func checkValue(of entry: Store.Entry) throws(ShellError) {
    guard entry.state != .expired else { throw expired(entry) }
    guard !entry.isNegative else { throw negative(entry) }
  }

  private func negative(_ entry: Store.Entry) -> ShellError {
    let end =
      entry.expires == nil
      ? "never expires" : "expires \(wallClock.expiryAndClock(entry.expires?.unix))"
    return ShellError(
      .noSuchKey, "\(entry.key.bytes) in \(entry.namespace) is an entry that says there is nothing",
      hint: "written \(wallClock.distance(to: entry.written.unix)), \(end); info shows it")
  }

  func expired(_ entry: Store.Entry) -> ShellError {
    ShellError(
      .noSuchKey,
      "\(entry.key.bytes) in \(entry.namespace) \(wallClock.expiry((entry.staleUntil ?? entry.expires)?.unix))",
      hint: "keys --expired lists what is still in the file; set stores it anew")
  }

  /// That there is no such entry, and which ones are near.
  func noSuchKey(_ key: [UInt8], in namespace: Store.Namespace) throws -> ShellError {
    let near = try KeySuggestions(key, in: namespace)
    return ShellError(
      .noSuchKey, "no entry \(key) in \(namespace.name)", hint: near.hint)
  }
}

extension Store.Entry {
  /// Whether a read may find a value: the entry has not expired, and does not say that there is nothing.
  var hasValue: Bool { state != .expired && !isNegative }
}
