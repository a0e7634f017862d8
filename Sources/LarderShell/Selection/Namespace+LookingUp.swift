import Larder
import ShellLanguage

extension Store.Namespace {
  /// Lends the facts and the value of the entry under exactly this key, be it expired.
  ///
  /// Unlike a read by the application it counts nothing and removes nothing: looking is no use.
  func lookUp<Result>(
    _ key: [UInt8], _ body: (Store.Entry, Span<UInt8>) throws -> Result
  ) throws -> Result? {
    guard try entry(for: key) != nil else { return nil }
    var result: Result?
    // Keys come in order, so that it is the first; only among very long ones it may be a later one.
    try scan(prefix: key, includingExpired: true) { entry, value in
      guard entry.key.bytes == key else { return true }
      result = try body(entry, value)
      return false
    }
    return result
  }
}
