import LMDB
import LarderSystem
import Synchronization

/// A decoded value.
@usableFromInline
final class MemoryBox<Value: Sendable>: Sendable {
  @usableFromInline let value: Value

  init(_ value: Value) { self.value = value }
}

/// A box of whatever type: all but the last step of a read knows no types.
@usableFromInline typealias AnyMemoryBox = AnyObject & Sendable

/// A decoded value with what is needed to be always right about it.
///
/// A pair of namespace id and version names one value for ever, so `value` never changes. What a touch or a commit can
/// change is kept in atomics that belong together, and are read and written under the lock of the item's shard.
@usableFromInline
final class MemoryItem: Sendable {
  let key: OwnedBytes
  let hash: UInt64
  let id: NamespaceID
  let version: UInt64
  let cost: Int
  /// The end of its life in memory, however long the entry lives.
  let end: Int64
  @usableFromInline let box: any AnyMemoryBox

  /// The transaction at which this was last known to be the entry's value.
  private let stamp: Atomic<UInt64>
  /// From here on it must not be given without a look at the entry.
  private let expires: Atomic<Int64>
  /// When the entry was written, as the version was first seen here.
  let writtenAt: Int64
  /// The same if that can matter: an entry from the future is not fresh.
  private let written: Atomic<Int64>

  /// Hits and the policy may lose each other's changes.
  private let marks = Atomic<UInt8>(0)
  /// Where it is in the policy's queue; changed under the policy's lock only.
  private let storedPlace = Atomic<Int>(MemoryQueue.end)

  init(
    key: Span<UInt8>, hash: UInt64, cost: Int, end: Int64, box: any AnyMemoryBox, id: NamespaceID,
    header: EntryHeader, snapshot: UInt64
  ) {
    self.key = OwnedBytes(copying: key)
    self.hash = hash
    self.id = id
    self.cost = cost
    self.end = end
    self.box = box
    version = header.version
    writtenAt = header.written
    stamp = Atomic(snapshot)
    expires = Atomic(Swift.min(header.expires, end))
    written = Atomic(Self.written(header))
  }

  private static func written(_ header: EntryHeader) -> Int64 {
    header.expires == EntryHeader.never ? .min : header.written
  }

  var snapshot: UInt64 { stamp.load(ordering: .relaxed) }

  /// Whether it was known to be current at that transaction or a later one. 0 is no transaction.
  @inline(__always)
  func isCurrent(at transaction: UInt64) -> Bool {
    stamp.load(ordering: .relaxed) >= transaction
  }

  /// Notes that the entry still had this value in a snapshot, and what its times are there.
  func confirm(_ header: EntryHeader, snapshot: UInt64) {
    guard snapshot > self.snapshot else { return }
    expires.store(Swift.min(header.expires, end), ordering: .relaxed)
    written.store(Self.written(header), ordering: .relaxed)
    stamp.store(snapshot, ordering: .relaxed)
  }

  /// Whether this is the value of an entry with that header, and young enough to be given again.
  func isValue(of header: EntryHeader, id: NamespaceID, at now: Int64) -> Bool {
    version == header.version && self.id == id && (end == .max || now < end)
  }

  /// Whether an entry with these times is fresh: what ``EntryHeader/state(at:)`` says of it.
  @inline(__always)
  func isFresh(at now: Int64) -> Bool {
    let expires = expires.load(ordering: .relaxed)
    if expires == EntryHeader.never { return true }
    return now < expires && written.load(ordering: .relaxed) &- 60_000 <= now
  }

  /// Whether the coarse clock could be wrong about it.
  @inline(__always)
  func isNearItsEnd(at now: Int64) -> Bool {
    let expires = expires.load(ordering: .relaxed)
    return expires != EntryHeader.never && now &+ 10 >= expires
  }

  func isExpired(at now: Int64) -> Bool {
    let expires = expires.load(ordering: .relaxed)
    return expires != EntryHeader.never && now >= expires
  }

  var place: Int {
    get { storedPlace.load(ordering: .relaxed) }
    set { storedPlace.store(newValue, ordering: .relaxed) }
  }
}

/// What the policy remembers of an item's uses, in seven bits: clock, frequency, and whether it was ever used.
extension MemoryItem {
  static let mostFrequency: UInt8 = 15
  static let mostClock: UInt8 = 3

  private var mark: UInt8 {
    get { marks.load(ordering: .relaxed) }
    set { marks.store(newValue, ordering: .relaxed) }
  }

  /// Whether it was used since the hand came by, 0 to 3.
  var clock: UInt8 {
    get { mark & 3 }
    set { mark = mark & ~3 | newValue }
  }

  /// How often it was used, 0 to 15, halved from time to time.
  var frequency: UInt8 {
    get { mark >> 2 & 15 }
    set { mark = mark & ~0x3C | newValue << 2 }
  }

  /// Whether it was ever used since it came.
  var isUsed: Bool { mark & 0x40 != 0 }

  /// All that a hit changes: nothing at all for what is used all the time.
  @inline(__always)
  func noteUse() {
    let mark = mark
    if mark & 3 == Self.mostClock { return }
    self.mark = (mark & 0x3C == 0x3C ? mark &+ 1 : mark &+ 5) | 0x40
  }

  /// Takes over what is known of the uses of the value this one replaces.
  func inherit(from other: MemoryItem) { mark = other.mark }
}
