import LMDB

/// What an entry gets from its write or touch: when it ends, how long it may lie unused, how long it may be served stale.
struct Lifetime {
  private let end: Int64
  /// How much of the end jitter may take, in milliseconds.
  private let spread: Int64
  let idle: IdleInterval?
  let stale: Duration

  /// - Parameters:
  ///   - own: what the write itself says; nil for the rules'.
  ///   - ownStale: the same for the window after it.
  init(
    _ own: Expiration?, stale ownStale: Duration?, rules: Rules, at now: Timestamp
  ) throws(LarderError) {
    let expiration = own ?? rules.expires
    end = try expiration.deadline(from: now)
    idle = expiration.idle
    stale = ownStale ?? rules.stale
    // What a write says of its own is meant exactly.
    if own == nil, case .after(let lifetime) = expiration {
      spread = Int64(saturating: Double(max(lifetime.milliseconds, 0)) * rules.jitter)
    } else {
      spread = 0
    }
  }

  /// From when on the entry is not fresh. Which part of the jitter it gets depends on its key and version alone.
  func expires(_ key: Span<UInt8>, version: UInt64) -> Int64 {
    guard spread > 0, end != EntryHeader.never else { return end }
    let chance = Checksum.of(key, seed: version ^ 0x9E6C_63D0_676A_9A99)
    return end - Int64(UInt64(spread).multipliedFullWidth(by: chance).high)
  }

  /// From when on the entry is gone.
  static func late(_ expires: Int64, stale: Duration) -> Int64 {
    expires == EntryHeader.never || stale == .zero
      ? expires : max(expires, Timestamp(milliseconds: expires).advanced(by: stale).milliseconds)
  }
}

extension EntryHeader {
  /// How long the entry may be served stale; nil where its end does not tell, being none.
  var stale: Duration? {
    if expires == Self.never { return nil }
    if staleUntil == Self.never { return .milliseconds(Int64.max) }
    return Timestamp(milliseconds: expires).duration(to: Timestamp(milliseconds: staleUntil))
  }
}
