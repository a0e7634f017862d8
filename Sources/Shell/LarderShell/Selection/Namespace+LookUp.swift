import Larder
import LarderSystem

extension Store.Namespace {
  /// Keys up to this length sort before all longer keys that begin with them.
  private static let sortedLength = 200

  /// Lends the entry under exactly this key, expired or not, and its value, in one lookup.
  ///
  /// Unlike a read by the application it counts nothing and removes nothing.
  func lookUp<Result>(
    _ key: [UInt8], _ body: (Store.Entry, Span<UInt8>) throws -> Result
  ) throws -> Result? {
    var damaged = 0
    return try lookUp(key, damaged: &damaged, body)
  }

  /// - Parameter damaged: one more if the entry, or one in the place where it would be, is damaged.
  func lookUp<Result>(
    _ key: [UInt8], damaged: inout Int, _ body: (Store.Entry, Span<UInt8>) throws -> Result
  ) throws -> Result? {
    var result: Result?
    var passed = 0
    func noteDamage() { passed += 1 }
    try scanEntries(
      prefix: key, includingExpired: true, readsValues: true, damaged: noteDamage
    ) { entry, value in
      // Very long keys are stored by a hash behind their beginning, so that others may come first.
      guard entry.key.bytes == key else { return key.count > Self.sortedLength }
      result = try body(entry, value)
      return false
    }
    if result == nil, passed > 0 { damaged += 1 }
    return result
  }

  /// Whether there is an entry under a key that has not expired, or any.
  func holds(_ key: [UInt8], _ seesExpired: Bool) throws -> Bool {
    try entry(for: key).map { $0.state != .expired || seesExpired } ?? false
  }

  /// Scans up to the first value that this program cannot read, such as an encrypted one.
  func scanReadable(_ visit: (Store.Entry, Span<UInt8>) throws -> Bool) throws {
    do {
      try scan(visit)
    } catch let error as LarderError where error.code == .unreadable {
      return
    }
  }
}

extension Store.Entry {
  /// Without the parts that lists and changes do not need and that can be as large as values.
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
