import Larder
import ShellLanguage

/// The keys of a namespace that one may have meant, found with few looks.
struct KeySuggestions {
  /// The nearest first.
  private var nearest: [[UInt8]] = []
  /// What they begin with, and how many do.
  private var prefix: [UInt8] = []
  private var count = 0

  private static let mostLooked = 200
  private static let mostProbes = 64

  /// Shortens the key until something begins like it.
  init(_ key: [UInt8], in namespace: Store.Namespace) throws {
    var prefix = Array(key.prefix(Self.mostProbes))
    var keys: [[UInt8]] = []
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
    // Without a common beginning only what is nearly the same is near.
    nearest = ranked.prefix(3).filter { !prefix.isEmpty || $0.distance <= 2 }.map(\.key)
  }

  /// Nil if nothing is near.
  var hint: SafeText? {
    guard !nearest.isEmpty else { return "keys lists what there is" }
    let list = nearest.map { SafeText(quoting: $0) }.joined()
    guard !prefix.isEmpty, count > nearest.count else { return "near it: \(list)" }
    let number = count > Self.mostLooked ? "over \(Self.mostLooked)" : "\(count)"
    return "near it: \(list)   (keys \(Quoting.typed(prefix))* lists \(number))"
  }

  private static func keys(with prefix: [UInt8], in namespace: Store.Namespace) throws -> [[UInt8]]
  {
    var keys: [[UInt8]] = []
    try namespace.scan(prefix: prefix) { entry, _ in
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
