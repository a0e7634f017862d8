import LarderSystem

/// The expiration, time to idle and stale window that an entry gets from a write or a touch.
struct Lifetime {
  private let end: Int64
  private let spread: Int64
  let idle: IdleInterval?
  let stale: Duration

  /// - Parameter loaded: when the load of the value ended, at which a lifetime begins, but not a time to idle; nil means now.
  init(
    _ own: Expiration?, stale ownStale: Duration?, in namespace: KnownNamespace, at now: Timestamp,
    loaded: Timestamp? = nil
  ) throws(LarderError) {
    let expiration = own ?? namespace.rules.expires
    idle = expiration.timeToIdle
    end = try expiration.deadline(from: idle == nil ? min(loaded ?? now, now) : now)
    stale = ownStale ?? namespace.rules.stale
    // An expiration that a write gives is exact. So jitter applies only to a duration that comes from the rules.
    if own == nil, case .after(let lifetime) = expiration {
      spread = Int64(
        saturating: Double(max(lifetime.roundedUpMilliseconds, 0)) * namespace.rules.jitter)
    } else {
      spread = 0
    }
  }

  /// The time from which the entry is no longer fresh. The jitter depends only on the key and the version.
  func expires(_ key: Span<UInt8>, version: UInt64) -> Int64 {
    guard spread > 0, end != EntryHeader.never else { return end }
    let chance = Checksum.of(key, seed: version ^ 0x9E6C_63D0_676A_9A99)
    return end - Int64(UInt64(spread).multipliedFullWidth(by: chance).high)
  }

  /// The time from which the entry may no longer be served stale. For an entry that expires, this time is before `never`.
  static func late(_ expires: Int64, stale: Duration) -> Int64 {
    if expires == EntryHeader.never || stale == .zero { return expires }
    let end = Timestamp(milliseconds: expires).advanced(by: stale).milliseconds
    return max(expires, min(end, EntryHeader.never - 1))
  }
}

/// A time to idle in milliseconds, more than zero. A written use sets an expiry that is a sixteenth of the interval later than
/// necessary. So further uses within a sixteenth of the interval need not be written.
struct IdleInterval: Hashable, Sendable {
  let milliseconds: Int64

  init?(milliseconds: Int64) {
    guard milliseconds > 0 else { return nil }
    self.milliseconds = milliseconds
  }

  /// The time to idle in a field of an entry; nil if the field is damaged.
  init?(_ field: Span<UInt8>) {
    guard field.count == 8 else { return nil }
    self.init(milliseconds: Int64(bitPattern: field.word(at: 0)))
  }

  init?(_ duration: Duration) { self.init(milliseconds: duration.roundedUpMilliseconds) }

  func end(after moment: Int64) -> Int64 {
    moment.saturatingAdding(milliseconds).saturatingAdding(milliseconds / 16)
  }

  /// When a use of an entry that expires at `end` must be written: a sixteenth of the interval after the last written use.
  func due(end: Int64) -> Int64 {
    end == EntryHeader.never ? end : end.saturatingAdding(-milliseconds)
  }
}

extension EntryFields {
  var idle: IdleInterval? {
    get { self[.idleInterval].flatMap { IdleInterval($0.span) } }
    set { self[.idleInterval] = newValue.map { [UInt8](littleEndian: $0.milliseconds) } }
  }
}

extension EntryHeader {
  var stale: Duration? {
    if expires == Self.never { return nil }
    return Timestamp(milliseconds: expires).duration(to: Timestamp(milliseconds: staleUntil))
  }

  /// The time to idle of an entry, read from its record without a copy of the fields.
  func idle(in record: Span<UInt8>) -> IdleInterval? {
    field(.idleInterval, in: record).flatMap { IdleInterval(record.extracting($0)) }
  }

  /// The header for the memory tier. The header expires when a use must be written, so the next read looks up the stored entry.
  func remembered(_ idle: IdleInterval?) -> EntryHeader {
    guard let idle else { return self }
    var header = self
    header.expires = min(expires, idle.due(end: expires))
    return header
  }
}
