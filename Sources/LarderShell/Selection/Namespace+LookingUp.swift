import Larder
import ShellLanguage

extension Store.Namespace {
  /// Keys up to this length sort before all longer keys that begin with them.
  private static let sortedLength = 200

  /// Lends the entry under exactly this key, expired or not, and its value, in one lookup.
  ///
  /// Unlike a read by the application it counts nothing and removes nothing.
  func lookUp<Result>(
    _ key: [UInt8], _ body: (Store.Entry, Span<UInt8>) throws -> Result
  ) throws -> Result? {
    var result: Result?
    try scan(prefix: key, includingExpired: true) { entry, value in
      // Very long keys are stored by a hash behind their beginning, so that others may come first.
      guard entry.key.bytes == key else { return key.count > Self.sortedLength }
      result = try body(entry, value)
      return false
    }
    return result
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
