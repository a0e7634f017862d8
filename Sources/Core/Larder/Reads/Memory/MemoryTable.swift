import LarderSystem

/// Items by key, in a hash table with open addressing. At most three quarters of the slots are used. Free slots have hash 0.
struct MemoryTable {
  private struct Slot {
    var hash: UInt64 = 0
    var item: MemoryItem?
  }

  private var slots: [Slot] = []
  private(set) var count = 0

  @inline(__always)
  private var mask: Int { slots.count &- 1 }

  @inline(__always)
  func find(_ hash: UInt64, _ key: Span<UInt8>) -> MemoryItem? {
    if count == 0 { return nil }
    var index = Int(truncatingIfNeeded: hash) & mask
    while true {
      let slot = slots[index]
      if slot.hash == 0 { return nil }
      if slot.hash == hash, let item = slot.item, item.hasKey(key) { return item }
      index = (index &+ 1) & mask
    }
  }

  private func index(of item: MemoryItem) -> Int? {
    if count == 0 { return nil }
    var index = Int(truncatingIfNeeded: item.hash) & mask
    while let found = slots[index].item {
      if found.hash == item.hash, found.key.isSame(as: item.key) { return index }
      index = (index + 1) & mask
    }
    return nil
  }

  mutating func put(_ item: MemoryItem) {
    if let index = index(of: item) {
      slots[index].item = item
      return
    }
    if (count + 1) * 4 > slots.count * 3 { grow() }
    insert(Slot(hash: item.hash, item: item))
    count += 1
  }

  /// Removes this item. Returns false if the table has no item, or another item, under the key of this item.
  mutating func remove(_ item: MemoryItem) -> Bool {
    guard var gap = index(of: item), slots[gap].item === item else { return false }
    slots[gap] = Slot()
    count -= 1
    // Moves a later item into the gap if a search for this item would otherwise end at the gap.
    var index = (gap + 1) & mask
    while slots[index].hash != 0 {
      let home = Int(truncatingIfNeeded: slots[index].hash) & mask
      if (index &- home) & mask >= (index &- gap) & mask {
        slots.swapAt(gap, index)
        gap = index
      }
      index = (index + 1) & mask
    }
    return true
  }

  private mutating func insert(_ slot: Slot) {
    var index = Int(truncatingIfNeeded: slot.hash) & mask
    while slots[index].hash != 0 { index = (index + 1) & mask }
    slots[index] = slot
  }

  private mutating func grow() {
    let old = slots
    slots = Array(repeating: Slot(), count: Swift.max(8, old.count * 2))
    for slot in old where slot.hash != 0 { insert(slot) }
  }
}

/// A hash of keys with two random secrets, so that nobody can choose keys that collide. The hash mixes both words of a pair
/// with a secret before their multiplication. ``Checksum`` mixes one word with a constant: if a key contains this constant, the
/// product is 0 with every seed, so all such keys collide.
struct KeyHash: Sendable {
  private let first: UInt64
  private let second: UInt64

  init(_ first: UInt64 = .random(in: 0 ... .max), _ second: UInt64 = .random(in: 0 ... .max)) {
    (self.first, self.second) = (first, second)
  }

  @inline(__always)
  func hash(of key: Span<UInt8>) -> UInt64 {
    let count = key.count
    var state = first
    var offset = 0
    while offset &+ 16 < count {
      state = Checksum.mix(key.word(at: offset) ^ second, key.word(at: offset &+ 8) ^ state)
      offset &+= 16
    }
    let (low, high) = Self.ends(of: key, from: offset)
    return Checksum.mix(
      state ^ UInt64(truncatingIfNeeded: count), Checksum.mix(low ^ second, high ^ state))
  }

  /// The bytes after `start` as two words. If at most 16 bytes follow `start`, each byte is in at least one word. The checksums
  /// in files depend on the words, so the words must not change.
  @inline(__always)
  static func ends(of key: Span<UInt8>, from start: Int) -> (low: UInt64, high: UInt64) {
    let count = key.count &- start
    if count >= 8 { return (key.word(at: start), key.word(at: start &+ count &- 8)) }
    if count >= 4 {
      return (UInt64(key.halfWord(at: start)), UInt64(key.halfWord(at: start &+ count &- 4)))
    }
    if count == 0 { return (0, 0) }
    let low =
      UInt64(key[start]) << 16 | UInt64(key[start &+ count &>> 1]) << 8
      | UInt64(key[start &+ count &- 1])
    return (low, 0)
  }
}
