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
    if let path = pathWithoutKey(key, in: namespaces[0]) { return path }
    let near = try KeySuggestions(key, in: namespaces[0])
    return ShellError(
      .noSuchKey, "no entry \(key) in \(namespaces[0].name)",
      hint: near.hint(verb: verb, namespace: namespaces[0].name))
  }

  /// The error for `get @ns .path`, whose path has no key before it.
  private func pathWithoutKey(_ key: [UInt8], in namespace: Store.Namespace) -> ShellError? {
    guard key.count > 1, key[0] == UInt8(ascii: "."),
      let path = String(validating: key, as: UTF8.self), let line,
      case .word(let name)? = line.arguments.first, let verb = name.bareText,
      CommandTable.standard.command(named: verb)?.name == "get"
    else { return nil }
    let all = line.source == .command ? "'*'" : "*"
    return ShellError(
      .noSuchKey, "no entry \(key) in \(namespace.name)",
      hint: "`get @\(namespace.name) \(all) \(path)` shows this field of each value")
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

/// Keys of a namespace that are similar to one that does not exist, found with few lookups.
private struct KeySuggestions {
  private let key: [UInt8]
  /// The nearest first.
  private var nearest: [[UInt8]] = []
  /// Their common prefix, and the number of keys that have it.
  private var prefix: [UInt8] = []
  private var count = 0

  private static let mostLooked = 200
  private static let mostProbes = 64

  /// Shortens the key until some key begins with the rest.
  init(_ key: [UInt8], in namespace: Store.Namespace) throws {
    self.key = key
    var prefix = Array(key.prefix(Self.mostProbes))
    var keys = prefix == key ? try Self.keys(with: prefix, in: namespace) : []
    while keys.isEmpty, !prefix.isEmpty {
      prefix.removeLast()
      // Half a character is nothing that a person could type.
      while let last = prefix.last, last & 0x80 != 0, prefix.characters == nil {
        prefix.removeLast()
      }
      keys = try Self.keys(with: prefix, in: namespace)
    }
    self.prefix = prefix
    count = keys.count
    let wanted = Self.text(key)
    let ranked = keys.map { (distance: Suggestions.distance(wanted, Self.text($0)), key: $0) }
      .sorted { $0.distance < $1.distance }
    // A key with a short common prefix is similar only if it is nearly equal.
    let isClose = !prefix.isEmpty && 2 * prefix.count >= min(key.count, Self.mostProbes)
    nearest = ranked.prefix(3)
      .filter { isClose || $0.distance <= (prefix.isEmpty ? min(wanted.count / 3, 2) : 2) }
      .map(\.key)
  }

  /// A hint that a person can act on.
  func hint(verb: String, namespace: String) -> SafeText {
    let number = count > Self.mostLooked ? "over \(Self.mostLooked)" : "\(count)"
    if prefix == key {
      return
        "\(number) keys begin with it: `\(verb) @\(namespace) \(Quoting.typed(prefix))*`"
    }
    guard !nearest.isEmpty else { return "`keys @\(namespace)` lists the keys" }
    let list = nearest.map { SafeText(quoting: $0) }.joined()
    guard !prefix.isEmpty, count > nearest.count else { return "similar keys: \(list)" }
    return
      "similar keys: \(list); `keys @\(namespace) \(Quoting.typed(prefix))*` lists \(number)"
  }

  private static func keys(with prefix: [UInt8], in namespace: Store.Namespace) throws -> [[UInt8]]
  {
    var keys: [[UInt8]] = []
    try namespace.scanEntries(prefix: prefix) { entry, _ in
      keys.append(entry.key.bytes)
      return keys.count <= mostLooked
    }
    return keys
  }

  private static func text(_ key: [UInt8]) -> String {
    String(decoding: key.prefix(mostProbes), as: UTF8.self).lowercased()
  }
}

extension [UInt8] {
  fileprivate var characters: String? { String(validating: self, as: UTF8.self) }
}
