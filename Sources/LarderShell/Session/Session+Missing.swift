import Larder
import ShellLanguage

extension Session {
  /// Throws if the words list a key that does not exist in any of the namespaces.
  func checkKeys(of call: Invocation, _ selection: Selection, in namespaces: [Store.Namespace])
    throws
  {
    guard selection.isOfKeys else { return }
    for case .key(let key) in selection.patterns
    where try namespaces.allSatisfy({ try $0.entry(for: key) == nil }) {
      throw try noSuchKey(key, in: namespaces, verb: call.command.name)
    }
  }

  /// Throws if keys from standard input do not exist.
  func checkFound(_ keys: PipedKeys) throws(ShellError) {
    guard keys.absent > 0 else { return }
    throw ShellError(
      .noSuchKey,
      "\(Wording.count(keys.absent)) of \(Wording.count(keys.count, "key", "keys")) not found",
      hint: "the others are above")
  }

  /// Throws if reads miss the entry: its empty value would look like a stored one.
  func checkValue(of entry: Store.Entry) throws(ShellError) {
    guard entry.state != .expired else { throw expired(entry) }
    guard !entry.isNegative else { throw negative(entry) }
  }

  private func negative(_ entry: Store.Entry) -> ShellError {
    let end =
      entry.expires == nil
      ? "never expires" : "expires \(wallClock.expiryAndClock(entry.expires?.unix))"
    return ShellError(
      .noSuchKey,
      "\(entry.key.bytes) in \(entry.namespace) is a negative entry: it records that there is no value",
      hint: "written \(wallClock.distance(to: entry.written.unix)), \(end); `info` shows it")
  }

  private func expired(_ entry: Store.Entry) -> ShellError {
    ShellError(
      .noSuchKey,
      "\(entry.key.bytes) in \(entry.namespace) \(wallClock.expiry((entry.staleUntil ?? entry.expires)?.unix))",
      hint: "`keys --expired` lists entries still in the file; `set` stores a new one")
  }

  /// The error for a key that does not exist, with similar keys.
  func noSuchKey(
    _ key: [UInt8], in namespaces: [Store.Namespace], verb: String
  ) throws -> ShellError {
    guard namespaces.count == 1 else {
      return ShellError(
        .noSuchKey, "no entry \(key) in \(namespaces.count) namespaces",
        hint: "`keys @*` lists the keys")
    }
    let near = try KeySuggestions(key, in: namespaces[0])
    return ShellError(
      .noSuchKey, "no entry \(key) in \(namespaces[0].name)",
      hint: near.hint(verb: verb, namespace: namespaces[0].name))
  }

  /// The error for the listed keys that do not exist.
  func noSuchKeys(
    _ missing: [[UInt8]], of all: Int, in namespaces: [Store.Namespace], verb: String
  ) throws -> ShellError {
    if all == 1 || missing.count == 1, namespaces.count == 1 {
      return try noSuchKey(missing[0], in: namespaces, verb: verb)
    }
    let list = missing.prefix(3).map { SafeText(quoting: $0) }.joined()
    let more = missing.count > 3 ? ", ..." : ""
    return ShellError(
      .noSuchKey,
      "\(missing.count) of \(Wording.count(all, "key", "keys")) not found: \(list)\(more)",
      hint: "`keys` lists the keys")
  }
}

extension Store.Entry {
  /// A read finds a value: the entry has not expired and is not negative.
  var hasValue: Bool { state != .expired && !isNegative }
}
