import CLMDB
import LarderSystem
import Synchronization

/// A snapshot of the environment, with a slot of the reader pool. Lent bytes cannot be used after the transaction ends.
@safe package struct ReadTransaction: ~Copyable {
  let slot: UnsafeMutablePointer<ReaderSlot>
  let handle: OpaquePointer
  package let id: UInt64
  /// The stripe of ``StripedCounters`` that this read uses.
  package let stripe: Int
  /// Bytes that replace a record of the snapshot; see ``overlay(_:count:_:)``.
  private var overlaid: (hash: UInt64, region: Region)?
  /// The part of ``moment`` that counts changes of the bytes by which callers replace records of the snapshot.
  package var stamp: UInt64 = 0

  /// - Precondition: the caller owns the slot and has renewed the transaction of the slot.
  @inline(__always)
  init(slot: UnsafeMutablePointer<ReaderSlot>, handle: OpaquePointer) {
    unsafe self.slot = slot
    unsafe self.handle = handle
    id = UInt64(truncatingIfNeeded: unsafe mdb_txn_id(handle))
    stripe = unsafe slot.pointee.index
  }

  deinit {
    if unsafe slot.pointee.isInherited { return }
    unsafe mdb_txn_reset(handle)
    unsafe ReaderPool.release(slot)
  }

  /// A number for the state of the store that this transaction sees. Each change of the store increases the number.
  @inline(__always)
  package var moment: UInt64 { id &+ stamp }

  /// Replaces a record of the snapshot by other bytes, for the key with this hash. The bytes stay until the transaction ends.
  package mutating func overlay(
    _ hash: UInt64, count: Int, _ fill: (inout OutputSpan<UInt8>) -> Void
  ) { overlaid = unsafe (hash, slot.pointee.scratch.filled(count: count, fill)) }

  @inline(__always)
  package func overlay(of hash: UInt64) -> Region? {
    guard let overlaid, overlaid.hash == hash else { return nil }
    return overlaid.region
  }

  /// Looks up the key `prefix` (big-endian), `key`, `suffix`, together at most 511 bytes. Needs no allocation.
  @inline(__always)
  package func find(
    prefix: UInt32, key: Span<UInt8>, suffix: UInt8, in database: Database
  ) throws(LMDBError) -> Region? {
    let length = key.count &+ 5
    precondition(length <= 511, "a key of more than 511 bytes")
    let found = unsafe withUnsafeTemporaryAllocation(byteCount: 512, alignment: 8) { buffer in
      let start = buffer.baseAddress!
      unsafe start.storeBytes(of: prefix.bigEndian, as: UInt32.self)
      unsafe key.withUnsafeBufferPointer {
        if let source = $0.baseAddress {
          unsafe (start + 4).copyMemory(from: source, byteCount: $0.count)
        }
      }
      unsafe start.storeBytes(of: suffix, toByteOffset: length &- 1, as: UInt8.self)
      return unsafe lookUp(SearchKey(UnsafeRawPointer(start), count: length), in: database)
    }
    return try region(found)
  }

  package func find(_ key: Span<UInt8>, in database: Database) throws(LMDBError) -> Region? {
    if key.isEmpty || key.count > 511 { return nil }
    return try region(unsafe lookUp(SearchKey(key), in: database))
  }

  @inline(__always)
  private func lookUp(_ key: SearchKey, in database: Database) -> PageLookup {
    if database == .firstNamed, let tree = unsafe slot.pointee.snapshot.firstNamed {
      return unsafe slot.pointee.snapshot.pages.table.lookUp(key, in: tree)
    }
    return unsafe lookUpElsewhere(key, in: database)
  }

  @inline(never)
  private func lookUpElsewhere(_ key: SearchKey, in database: Database) -> PageLookup {
    guard let tree = tree(of: database) else { return .damaged }
    return unsafe slot.pointee.snapshot.pages.table.lookUp(key, in: tree)
  }

  @inline(__always)
  private func region(_ found: PageLookup) throws(LMDBError) -> Region? {
    if found.isDamaged { throw .damagedPage }
    return found.region
  }

  func tree(of database: Database) -> Tree? { unsafe slot.pointee.snapshot.tree(of: database) }

  @inlinable @inline(__always)
  @_lifetime(borrow self)
  package func bytes(of region: Region) -> Span<UInt8> {
    unsafe _overrideLifetime(Span(region), borrowing: self)
  }

  package func statistics(of database: Database) throws(LMDBError) -> DatabaseStatistics {
    guard let tree = tree(of: database) else { throw .damagedPage }
    return DatabaseStatistics(tree)
  }

  @_lifetime(borrow self)
  package func cursor(in database: Database) throws(LMDBError) -> Cursor {
    guard let tree = tree(of: database) else { throw .damagedPage }
    let cursor = unsafe Cursor(
      TreeCursor(tree, in: slot.pointee.snapshot.pages.table, numberKeys: database == .free))
    return unsafe _overrideLifetime(cursor, borrowing: self)
  }
}

/// A read transaction that is used again and again, and a flag that says whether a thread uses it now. Slots are 384 bytes
/// apart, a multiple of 128, so that two reading threads never share a pair of cache lines.
@safe struct ReaderSlot: ~Copyable {
  static let stride = 384
  static let idle: UInt32 = 0
  static let busy: UInt32 = 1
  /// The state of a slot that was not used after the last sweep. The next sweep ends the slot's transaction.
  static let resting: UInt32 = 2

  let index: Int
  /// Not the first property, because ThreadSanitizer would note each change of ``snapshot`` at the beginning of the slot.
  let state: Atomic<UInt32>
  var transaction: OpaquePointer?
  /// A separate struct, because a mutating call on the whole slot would overlap with another thread's read of ``state``.
  var snapshot: SnapshotTrees
  var scratch = Scratch()
  /// The phase of the store, which tells a forked child that the child must not end an inherited snapshot.
  let shared: UnsafeMutablePointer<ForkState>
  /// The number of slots outside the pool, which counts this slot; nil for a slot of the pool.
  let extra: UnsafeMutablePointer<Atomic<Int>>?

  init(
    index: Int, names: [[UInt8]], shared: UnsafeMutablePointer<ForkState>,
    extra: UnsafeMutablePointer<Atomic<Int>>?
  ) {
    snapshot = SnapshotTrees(names: names)
    state = unsafe Atomic(extra == nil ? Self.idle : Self.busy)
    self.index = index
    unsafe self.transaction = nil
    unsafe self.shared = shared
    unsafe self.extra = extra
  }

  @inline(__always)
  var isInherited: Bool { unsafe shared.pointee.phase.load(ordering: .relaxed) == ForkState.forked }

  @inline(__always)
  func change(_ old: UInt32, to new: UInt32) -> Bool {
    state.compareExchange(expected: old, desired: new, ordering: .acquiring).exchanged
  }

  /// Memory for bytes that a read copies, allocated at the first use.
  @safe struct Scratch: ~Copyable {
    private var bytes: UnsafeMutableBufferPointer<UInt8>?

    init() { unsafe bytes = nil }

    deinit { unsafe bytes?.deallocate() }

    mutating func filled(count: Int, _ fill: (inout OutputSpan<UInt8>) -> Void) -> Region {
      if unsafe (bytes?.count ?? -1) < count {
        unsafe bytes?.deallocate()
        unsafe bytes = UnsafeMutableBufferPointer.allocate(capacity: max(count, 1024))
      }
      let buffer = unsafe bytes!
      var output = unsafe OutputSpan(buffer: buffer, initializedCount: 0)
      fill(&output)
      let filled = unsafe output.finalize(for: buffer)
      return unsafe Region(start: UnsafeRawPointer(buffer.baseAddress!), count: filled)
    }
  }
}
