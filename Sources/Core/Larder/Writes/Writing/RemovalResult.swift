/// The entries and bytes that a call removed.
public struct RemovalResult: Sendable, Hashable {
  /// The number of removed entries.
  public var entries: Int
  /// The bytes of the removed values.
  public var bytes: Int
  /// Whether a purge removed nothing because the clock seems to have jumped; see ``Store/purge()``.
  public var skippedAfterClockJump = false

  /// The result for `entries` removed entries with `bytes` bytes.
  public init(entries: Int = 0, bytes: Int = 0) {
    self.entries = entries
    self.bytes = bytes
  }

  package static func += (left: inout RemovalResult, right: RemovalResult) {
    left.entries = left.entries.saturatingAdding(right.entries)
    left.bytes = left.bytes.saturatingAdding(right.bytes)
    left.skippedAfterClockJump = left.skippedAfterClockJump || right.skippedAfterClockJump
  }
}
