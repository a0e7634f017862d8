import Larder
import LarderSystem

extension Store.Namespace {
  /// A key up to this length comes before all longer keys that begin with this key, so a lookup scans one entry.
  private static let sortedLength = 200

  /// Passes to `body` the entry under exactly this key, even if it has expired. Does not count as a read, and removes nothing.
  ///
  /// - Parameter noteDamage: Runs if no entry is found, but a damaged entry has a key that begins with `key`.
  func lookUp<Result>(
    _ key: [UInt8], damaged noteDamage: () -> Void = {},
    _ body: (Store.Entry, Span<UInt8>) throws -> Result
  ) throws -> Result? {
    var result: Result?
    var passed = 0
    func countDamaged() { passed += 1 }
    do {
      try scanEntries(
        prefix: key, includingExpired: true, readsValues: true, damaged: countDamaged
      ) { entry, value in
        // A store keeps the beginning and a hash of a very long key, so other keys may come first, and the scan continues.
        guard entry.key.bytes == key else { return key.count > Self.sortedLength }
        result = try body(entry, value)
        return false
      }
    } catch let error as LarderError where error.code == .unreadable {
      // If `key` is absent, the error is about the value of a longer key, so the caller must not get the error.
      guard try entry(for: key) == nil else { throw error }
    }
    if result == nil, passed > 0 { noteDamage() }
    return result
  }

  /// Whether the key has an entry that has not expired. With `seesExpired`, whether the key has any entry.
  func holds(_ key: [UInt8], _ seesExpired: Bool) throws -> Bool {
    try entry(for: key).map { $0.state != .expired || seesExpired } ?? false
  }

  /// Scans until the first value that this program cannot read, for example an encrypted value.
  func scanReadable(_ visit: (Store.Entry, Span<UInt8>) throws -> Bool) throws {
    do {
      try scan(visit)
    } catch let error as LarderError where error.code == .unreadable {
      return
    }
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
