import Larder
import ShellLanguage

extension Store.Namespace {
  /// Whether the key has an entry, but the entry or its value is damaged.
  func isDamaged(_ key: [UInt8]) throws -> Bool {
    var isDamaged = false
    func noteDamage() { isDamaged = true }
    do {
      _ = try withEntry(for: key, damaged: noteDamage) { _, _ in }
    } catch let error as LarderError where error.code == .unreadable {}
    return isDamaged
  }

  /// Scans until the first value that this program cannot read, for example an encrypted value.
  func scanReadable(_ visit: (Store.Entry, Span<UInt8>) throws -> Bool) throws {
    do { try scan(visit) } catch let error as LarderError where error.code == .unreadable {}
  }
}

/// Keys that resemble a missing key. A few lookups find them.
extension Store.Namespace {
  private static let mostLooked = 200
  private static let mostProbes = 64

  /// A hint with similar keys, with a command that a person can run, or with both.
  func hint(for key: [UInt8], verb: String) throws -> SafeText {
    // Shortens the key until a key of the namespace begins with the shortened key.
    var prefix = Array(key.prefix(Self.mostProbes))
    var keys = prefix == key ? try self.keys(beginningWith: prefix) : []
    while keys.isEmpty, !prefix.isEmpty {
      prefix.removeLast()
      // A person cannot type a part of a character, so the prefix ends at the end of a character.
      while let last = prefix.last, last & 0x80 != 0,
        String(validating: prefix, as: UTF8.self) == nil
      { prefix.removeLast() }
      keys = try self.keys(beginningWith: prefix)
    }
    let (name, all) = (Quoting.namespace(name), "\(Quoting.typed(prefix))*")
    let number = keys.count > Self.mostLooked ? "over \(Self.mostLooked)" : "\(keys.count)"
    if prefix == key {
      let keys = keys.count == 1 ? "1 key begins" : "\(number) keys begin"
      return "\(keys) with it: `\(verb) \(name) \(all)`"
    }
    func text(_ key: [UInt8]) -> String {
      String(decoding: key.prefix(Self.mostProbes), as: UTF8.self).lowercased()
    }
    let wanted = text(key)
    let ranked = keys.map { (distance: Suggestions.distance(wanted, text($0)), key: $0) }
      .sorted { $0.distance < $1.distance }
    // If the common prefix is short, keys count as similar only if they nearly equal the missing key.
    let isClose = !prefix.isEmpty && 2 * prefix.count >= min(key.count, Self.mostProbes)
    let nearest = ranked.prefix(3)
      .filter { isClose || $0.distance <= (prefix.isEmpty ? min(wanted.count / 3, 2) : 2) }
    guard !nearest.isEmpty else { return "`keys \(name)` lists the keys" }
    let list = nearest.map { SafeText(quoting: $0.key) }.joined()
    guard !prefix.isEmpty, keys.count > nearest.count else { return "similar keys: \(list)" }
    return "similar keys: \(list); `keys \(name) \(all)` lists \(number)"
  }

  private func keys(beginningWith prefix: [UInt8]) throws -> [[UInt8]] {
    try page(limit: Self.mostLooked + 1, prefix: prefix).items.map(\.key.bytes)
  }
}

extension Store.Entry {
  /// The entry without the parts that can be as large as a value. Lists and changes do not need these parts.
  var withoutExtras: Store.Entry {
    var entry = self
    entry.tags = []
    entry.owners = []
    entry.entityTag = nil
    entry.lastModified = nil
    entry.metadata = nil
    return entry
  }
}
