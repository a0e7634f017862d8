import LarderSystem
import Synchronization

/// The facts that tell whether a decoded value is still current. ``MemoryBox`` adds the value, which never changes, because a
/// namespace id and a version name one value for ever. The facts that a touch or a commit can change are atomics, read and
/// written together under the lock of the item's shard. `Sendable` is unchecked because of the subclass and of ``place``.
@usableFromInline
class MemoryItem: @unchecked Sendable {
  let key: OwnedBytes
  /// The first 8 and the last 8 bytes of the key. A lookup of a key of up to 16 bytes reads no other bytes of the key.
  private let ends: (UInt64, UInt64)
  let hash: UInt64
  let id: NamespaceID
  let version: UInt64
  let cost: Int
  final var usage: MemoryUsage { MemoryUsage(cost: cost, entries: 1) }
  /// The time at which the value must leave the memory, even if the entry is still fresh.
  let end: Int64

  private let stamp: Atomic<UInt64>
  /// At this time and later, the value must not be returned without a lookup of the entry.
  private let expires: Atomic<Int64>
  /// The time of the entry's write, or of the last confirmation of its value.
  private let written: Atomic<Int64>

  /// The access statistics. A hit and the policy may write at the same time, and one change may be lost.
  private let storedStats = Atomic<UInt8>(0)
  /// The number of the insertion into the memory. The number changes only under the policy's lock.
  final let number = Atomic<UInt64>(0)
  /// The place in the policy's queue. Read and changed only under the policy's lock.
  final var place = MemoryQueue.end

  init(key: Span<UInt8>, hash: UInt64, cost: Int, end: Int64, _ stored: Stored) {
    let header = stored.header
    self.key = OwnedBytes(copying: key)
    ends = KeyHash.ends(of: key, from: 0)
    self.hash = hash
    id = stored.id
    self.cost = cost
    self.end = end
    version = header.version
    written = Atomic(header.written)
    stamp = Atomic(stored.moment)
    expires = Atomic(Swift.min(header.expires, end))
  }

  @inline(__always)
  final func hasKey(_ key: Span<UInt8>) -> Bool {
    if key.count != self.key.count { return false }
    return key.count <= 16 ? KeyHash.ends(of: key, from: 0) == ends : self.key.isSame(as: key)
  }

  /// The newest state of the store in which the entry is known to have this value; see ``ReadTransaction/moment``.
  @inline(__always)
  final var snapshot: UInt64 { stamp.load(ordering: .relaxed) }

  final var writeTime: Timestamp { Timestamp(milliseconds: written.load(ordering: .relaxed)) }

  final func confirm(_ header: EntryHeader, snapshot: UInt64) {
    guard snapshot > self.snapshot else { return }
    expires.store(Swift.min(header.expires, end), ordering: .relaxed)
    written.store(header.written, ordering: .relaxed)
    stamp.store(snapshot, ordering: .relaxed)
  }

  /// Whether an entry with the header `header` has this value, and the value's lifetime in memory has not ended.
  final func isValue(of header: EntryHeader, id: NamespaceID, at now: Int64) -> Bool {
    version == header.version && self.id == id && (end == .max || now < end)
  }

  @inline(__always)
  final var neverExpires: Bool { expires.load(ordering: .relaxed) == EntryHeader.never }

  /// Whether an entry with the item's times is fresh, by the rule of ``EntryHeader/state(at:)``. The item must have an expiry.
  /// The result may be false for an entry that never expires but has a lifetime in memory. A lookup then finds the entry fresh.
  @inline(__always)
  final func isFresh(at now: Int64) -> Bool {
    now < expires.load(ordering: .relaxed) && written.load(ordering: .relaxed) <= now &+ 60_000
  }

  /// Whether the coarse clock may be too inexact to tell if the item is expired. The item must have an expiry.
  @inline(__always)
  final func isNearItsEnd(at now: Int64) -> Bool { now &+ 10 >= expires.load(ordering: .relaxed) }

  final func isExpired(at now: Int64) -> Bool {
    !neverExpires && now >= expires.load(ordering: .relaxed)
  }

  /// The access statistics in seven bits: the clock (2 bits), the frequency (4 bits), and whether a read has used the item.
  private final var word: UInt8 {
    get { storedStats.load(ordering: .relaxed) }
    set { storedStats.store(newValue, ordering: .relaxed) }
  }

  final var stats: AccessStats {
    get { AccessStats(frequency: UInt32(word >> 2 & 15), clock: UInt32(word & 3)) }
    set { word = word & 0x40 | UInt8(newValue.frequency << 2 | newValue.clock) }
  }

  final var isUsed: Bool { word & 0x40 != 0 }

  /// Records a use, like ``AccessSlot/used(in:isRecent:)`` but faster. Changes nothing for a used item whose clock is at its
  /// maximum. An item with the number `firstRecent` or a higher number is too new, so the use is only marked, not counted.
  @inline(__always)
  final func recordUse(firstRecent: UInt64) {
    let word = word
    if word & 0x43 == 0x43 { return }
    var next = word | 0x40
    if word & 3 != 3, number.load(ordering: .relaxed) < firstRecent {
      next &+= word & 0x3C == 0x3C ? 1 : 5
    }
    self.word = next
  }

  final func inherit(from other: MemoryItem) {
    word = other.word
    number.store(other.number.load(ordering: .relaxed), ordering: .relaxed)
  }
}

/// A decoded value and its facts in one object, so that a hit changes only one reference count.
@usableFromInline
final class MemoryBox<Value: Sendable>: MemoryItem, @unchecked Sendable {
  @usableFromInline let value: Value

  init(_ value: Value, key: Span<UInt8>, hash: UInt64, cost: Int, end: Int64, _ stored: Stored) {
    self.value = value
    super.init(key: key, hash: hash, cost: cost, end: end, stored)
  }
}
