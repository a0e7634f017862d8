import Larder
import ShellLanguage

/// Keys of a namespace that resemble a missing key. A few lookups find them.
enum KeySuggestions {
  private static let mostLooked = 200
  private static let mostProbes = 64

  /// A hint with similar keys, with a command that a person can run, or with both.
  static func hint(
    for key: [UInt8], in namespace: Store.Namespace, verb: String
  ) throws -> SafeText {
    // Shortens the key until a key of the namespace begins with the rest.
    var prefix = Array(key.prefix(mostProbes))
    var keys = prefix == key ? try Self.keys(with: prefix, in: namespace) : []
    while keys.isEmpty, !prefix.isEmpty {
      prefix.removeLast()
      // A person cannot type a part of a character, so the prefix ends at the end of a character.
      while let last = prefix.last, last & 0x80 != 0,
        String(validating: prefix, as: UTF8.self) == nil
      {
        prefix.removeLast()
      }
      keys = try Self.keys(with: prefix, in: namespace)
    }
    let (name, all) = (Quoting.namespace(namespace.name), "\(Quoting.typed(prefix))*")
    let number = keys.count > mostLooked ? "over \(mostLooked)" : "\(keys.count)"
    if prefix == key {
      let keys = keys.count == 1 ? "1 key begins" : "\(number) keys begin"
      return "\(keys) with it: `\(verb) \(name) \(all)`"
    }
    let wanted = text(key)
    let ranked = keys.map { (distance: Suggestions.distance(wanted, text($0)), key: $0) }
      .sorted { $0.distance < $1.distance }
    // If the common prefix is short, keys count as similar only if they nearly equal the missing key.
    let isClose = !prefix.isEmpty && 2 * prefix.count >= min(key.count, mostProbes)
    let nearest = ranked.prefix(3)
      .filter { isClose || $0.distance <= (prefix.isEmpty ? min(wanted.count / 3, 2) : 2) }
    guard !nearest.isEmpty else { return "`keys \(name)` lists the keys" }
    let list = nearest.map { SafeText(quoting: $0.key) }.joined()
    guard !prefix.isEmpty, keys.count > nearest.count else { return "similar keys: \(list)" }
    return "similar keys: \(list); `keys \(name) \(all)` lists \(number)"
  }

  private static func keys(with prefix: [UInt8], in namespace: Store.Namespace) throws -> [[UInt8]]
  {
    try namespace.page(limit: mostLooked + 1, prefix: prefix).items.map(\.key.bytes)
  }

  private static func text(_ key: [UInt8]) -> String {
    String(decoding: key.prefix(mostProbes), as: UTF8.self).lowercased()
  }
}
