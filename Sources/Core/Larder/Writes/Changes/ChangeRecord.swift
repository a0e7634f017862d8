import LarderSystem

/// A change as words in the ring. A seal, a checksum of words and index, shows whether a record is half written or overwritten.
/// Word 0 has the kind, the reason, the lengths of name and key, and flags. Word 1 has the number of the commit. Word 2 has the
/// ids of the namespace and of the process. Words 3 and 4 have the sizes before and after the change, word 5 the time, and word
/// 6 the expiry after the change. Then come the bytes of the name and of the key.
struct ChangeRecord {
  enum Kind: UInt8 {
    case set = 1
    case touched, removed, cleared, renamed
  }

  private enum Flag {
    static let keyIsCut: UInt64 = 1 << 32
    static let hasBefore: UInt64 = 1 << 33
    static let hasAfter: UInt64 = 1 << 34
    static let hasExpiry: UInt64 = 1 << 35
  }

  static let fixedCount = 7
  static let slotCount = 33
  private static let longestText = 8 * (slotCount - 1 - fixedCount)

  private(set) var words: [UInt64]

  /// - Parameter key: the key, which is cut after ``Change/longestKey`` bytes; or the new name of a renamed namespace.
  init(
    _ kind: Kind, reason: RemovalReason? = nil, id: NamespaceID, name: [UInt8], key: [UInt8] = [],
    before: Int? = nil, after: Int? = nil, expires: Timestamp? = nil, time: Timestamp,
    transaction: UInt64, process: Int32
  ) {
    let isKeyCut = kind != .renamed && key.count > Change.longestKey
    let key = isKeyCut ? key.prefix(Change.longestKey) : key[...]
    let text: [UInt8] = name + key
    precondition(text.count <= Self.longestText && name.count < 256 && key.count < 256)
    var head = UInt64(kind.rawValue) | UInt64(reason?.rawValue ?? 0) << 8
    head |= UInt64(name.count) << 16 | UInt64(key.count) << 24
    if isKeyCut { head |= Flag.keyIsCut }
    if before != nil { head |= Flag.hasBefore }
    if after != nil { head |= Flag.hasAfter }
    if expires != nil { head |= Flag.hasExpiry }
    words = [
      head, transaction, UInt64(id.rawValue) << 32 | UInt64(UInt32(bitPattern: process)),
      UInt64(before ?? 0), UInt64(after ?? 0), UInt64(bitPattern: time.milliseconds),
      UInt64(bitPattern: expires?.milliseconds ?? 0),
    ]
    let filled = text + [UInt8](repeating: 0, count: 7)
    words += stride(from: 0, to: text.count, by: 8).map { filled.span.word(at: $0) }
  }

  /// The number of words in a record that begins with `head`. Nil if no record can begin with `head`.
  static func count(head: UInt64) -> Int? {
    let bytes = Int(head >> 16 & 0xFF) + Int(head >> 24 & 0xFF)
    return bytes <= longestText ? fixedCount + (bytes + 7) / 8 : nil
  }

  init?(_ words: [UInt64], sealed seal: UInt64, at place: UInt64) {
    guard let head = words.first, Self.count(head: head) == words.count else { return nil }
    self.words = words
    guard self.seal(at: place) == seal, kind != nil else { return nil }
  }

  func seal(at place: UInt64) -> UInt64 {
    var state = place ^ 0xA076_1D64_78BD_642F
    for word in words {
      let mixed = Checksum.mix(state ^ 0xE703_7ED1_A0B4_28DB, word ^ 0x8EBC_6AF0_9C88_C6E3)
      state = mixed ^ (state << 23 | state >> 41)
    }
    return state
  }

  private var kind: Kind? { Kind(rawValue: UInt8(truncatingIfNeeded: words[0])) }
  private var nameCount: Int { Int(words[0] >> 16 & 0xFF) }
  private var keyCount: Int { Int(words[0] >> 24 & 0xFF) }

  private func byte(_ index: Int) -> UInt8 {
    UInt8(truncatingIfNeeded: words[Self.fixedCount + index / 8] >> UInt64(8 * (index % 8)))
  }

  private var name: [UInt8] { (0..<nameCount).map(byte) }
  private var key: [UInt8] { (nameCount..<nameCount + keyCount).map(byte) }

  /// A change with an empty name is of a damaged namespace, which may be this namespace.
  func concerns(_ namespace: [UInt8]) -> Bool {
    name == namespace || name.isEmpty || kind == .renamed && key == namespace
  }

  var change: Change {
    var change = Change(publicKind)
    change.namespace = String(decoding: name, as: UTF8.self)
    if kind != .cleared, kind != .renamed {
      change.key = Key(key)
      change.isKeyCut = words[0] & Flag.keyIsCut != 0
    }
    if words[0] & Flag.hasBefore != 0 { change.sizeBefore = Int(clamping: words[3]) }
    if words[0] & Flag.hasAfter != 0 { change.sizeAfter = Int(clamping: words[4]) }
    change.time = Timestamp(milliseconds: Int64(bitPattern: words[5]))
    if words[0] & Flag.hasExpiry != 0 {
      change.expires = Timestamp(milliseconds: Int64(bitPattern: words[6]))
    }
    change.transaction = words[1]
    change.process = Int(Int32(truncatingIfNeeded: words[2]))
    return change
  }

  private var publicKind: Change.Kind {
    switch kind {
    case .set: .set
    case .touched: .touched
    case .cleared: .cleared
    case .renamed: .renamed(to: String(decoding: key, as: UTF8.self))
    case .removed, nil:
      // A later version of Larder may have written a reason that this build does not know. The result is then `removed`.
      .removed(RemovalReason(rawValue: Int(words[0] >> 8 & 0xFF)) ?? .removed)
    }
  }
}
