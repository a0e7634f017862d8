import LMDB
import LarderSystem

/// The expiration, time to idle and stale window that a write or touch gives an entry.
struct Lifetime {
  private let end: Int64
  /// By how many milliseconds jitter may shorten it.
  private let spread: Int64
  let idle: IdleInterval?
  let stale: Duration

  /// - Parameters:
  ///   - own: the expiration that the write gives; nil takes the rules'.
  ///   - ownStale: the same for the stale window.
  init(
    _ own: Expiration?, stale ownStale: Duration?, in namespace: KnownNamespace, at now: Timestamp
  ) throws(LarderError) {
    let expiration = own ?? namespace.rules.expires
    end = try expiration.deadline(from: now)
    idle = expiration.timeToIdle
    stale = ownStale ?? namespace.rules.stale
    // An expiration that a write gives is exact: jitter is for the rules' alone.
    if own == nil, case .after(let lifetime) = expiration {
      spread = Int64(saturating: Double(max(lifetime.milliseconds, 0)) * namespace.rules.jitter)
    } else {
      spread = 0
    }
  }

  /// When the entry stops being fresh. The jitter depends on its key and version alone.
  func expires(_ key: Span<UInt8>, version: UInt64) -> Int64 {
    guard spread > 0, end != EntryHeader.never else { return end }
    let chance = Checksum.of(key, seed: version ^ 0x9E6C_63D0_676A_9A99)
    return end - Int64(UInt64(spread).multipliedFullWidth(by: chance).high)
  }

  /// When the entry may not be served stale any more.
  static func late(_ expires: Int64, stale: Duration) -> Int64 {
    expires == EntryHeader.never || stale == .zero
      ? expires : max(expires, Timestamp(milliseconds: expires).advanced(by: stale).milliseconds)
  }
}

extension EntryHeader {
  /// The entry's stale window; nil for an entry that never expires.
  var stale: Duration? {
    if expires == Self.never { return nil }
    if staleUntil == Self.never { return .milliseconds(Int64.max) }
    return Timestamp(milliseconds: expires).duration(to: Timestamp(milliseconds: staleUntil))
  }
}
