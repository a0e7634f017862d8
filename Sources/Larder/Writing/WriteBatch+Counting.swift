import LMDB

/// What an entry weighs in the counts.
struct Weight {
  var size: Int
  var stored: Int
  /// 0: not in the queue, being pinned.
  var sequence: UInt64

  init(size: Int, stored: Int, sequence: UInt64) {
    self.size = size
    self.stored = stored
    self.sequence = sequence
  }

  init(_ entry: StoredEntry) {
    size = entry.valueCount
    stored = entry.storedCount
    sequence = entry.header.sequence
  }
}

extension NamespaceCounters {
  mutating func add(_ weight: Weight) {
    entries &+= 1
    bytes &+= UInt64(weight.size)
    stored &+= UInt64(weight.stored)
    if weight.sequence == 0 {
      pinned &+= 1
    } else if weight.sequence >= queue.edge {
      queue.windowEntries &+= 1
      queue.windowBytes &+= UInt64(weight.size)
    }
  }

  mutating func subtract(_ weight: Weight) {
    entries &-= 1
    bytes &-= UInt64(weight.size)
    stored &-= UInt64(weight.stored)
    if weight.sequence == 0 {
      pinned &-= 1
    } else if weight.sequence >= queue.edge {
      queue.windowEntries &-= 1
      queue.windowBytes &-= UInt64(weight.size)
    }
  }
}

extension WriteBatch {
  /// Takes an entry into the counts of its namespace and the store.
  mutating func countIn(_ weight: Weight, of id: NamespaceID) throws(LarderError) {
    try update(id) { $0.add(weight) }
    state.entries &+= 1
    state.bytes &+= UInt64(weight.size)
    state.stored &+= UInt64(weight.stored)
  }

  /// Takes an entry out of them.
  mutating func countOut(_ weight: Weight, of id: NamespaceID) throws(LarderError) {
    try update(id) { $0.subtract(weight) }
    state.entries &-= 1
    state.bytes &-= UInt64(weight.size)
    state.stored &-= UInt64(weight.stored)
  }

  mutating func count(
    _ reason: RemovalReason, bytes: Int = 0, in id: NamespaceID
  ) throws(LarderError) {
    try update(id) { $0.removals.count(reason, bytes: bytes) }
  }

  /// The next number of a namespace: a version, and the sequence of what is new.
  mutating func number(in id: NamespaceID) throws(LarderError) -> UInt64 {
    var number: UInt64 = 0
    try update(id) { counters in
      number = counters.next
      counters.next &+= 1
    }
    return number
  }
}
