import CLMDB
import Synchronization

/// One read transaction that is kept and renewed, with the flag that says whose it is.
///
/// Slots lie 128 bytes apart so that two threads reading do not share a cache line.
@safe struct ReaderSlot: ~Copyable {
  static let stride = 128
  static let idle: UInt32 = 0
  static let busy: UInt32 = 1

  let state: Atomic<UInt32>
  let index: Int
  var transaction: OpaquePointer?
  /// Set for a slot outside the pool: the count of such slots, to be lowered when the read ends.
  let extra: UnsafeMutablePointer<Atomic<Int>>?

  init(index: Int, extra: UnsafeMutablePointer<Atomic<Int>>?) {
    state = unsafe Atomic(extra == nil ? Self.idle : Self.busy)
    self.index = index
    unsafe self.transaction = nil
    unsafe self.extra = extra
  }
}

/// Read transactions that are renewed instead of created: no lock, no allocation and no system call for a read.
///
/// A thread begins at a home slot derived from its identity and takes the first idle one. When all are busy a
/// transaction of its own is made for that read and thrown away after it.
@safe final class ReaderPool: Sendable {
  static let slotCount = 16

  nonisolated(unsafe) private let slots: UnsafeMutableRawPointer
  /// Reads outside the pool that are under way; -1_000_000 added while ``withAllIdle`` keeps them out.
  nonisolated(unsafe) private let extras: UnsafeMutablePointer<Atomic<Int>>

  init() {
    unsafe slots = UnsafeMutableRawPointer.allocate(
      byteCount: Self.slotCount * ReaderSlot.stride, alignment: ReaderSlot.stride)
    unsafe extras = UnsafeMutablePointer<Atomic<Int>>.allocate(capacity: 1)
    unsafe extras.initialize(to: Atomic(0))
    for index in 0..<Self.slotCount {
      unsafe slot(index).initialize(to: ReaderSlot(index: index, extra: nil))
    }
  }

  deinit {
    for index in 0..<Self.slotCount { unsafe slot(index).deinitialize(count: 1) }
    unsafe slots.deallocate()
    unsafe extras.deinitialize(count: 1)
    unsafe extras.deallocate()
  }

  @inline(__always)
  private func slot(_ index: Int) -> UnsafeMutablePointer<ReaderSlot> {
    unsafe (slots + index &* ReaderSlot.stride).assumingMemoryBound(to: ReaderSlot.self)
  }

  /// A slot that belongs to the caller until it is released; nil while the pool is shut.
  @inline(__always)
  func acquire() -> UnsafeMutablePointer<ReaderSlot>? {
    let home = Int(truncatingIfNeeded: (threadIdentity &* 0x9E37_79B9_7F4A_7C15) &>> 60)
    let first = unsafe slot(home)
    if unsafe first.pointee.state.compareExchange(
      expected: ReaderSlot.idle, desired: ReaderSlot.busy, ordering: .acquiring
    ).exchanged {
      return unsafe first
    }
    return unsafe acquireElsewhere(home: home)
  }

  @inline(never)
  private func acquireElsewhere(home: Int) -> UnsafeMutablePointer<ReaderSlot>? {
    for step in 1..<Self.slotCount {
      let candidate = unsafe slot((home + step) % Self.slotCount)
      if unsafe candidate.pointee.state.compareExchange(
        expected: ReaderSlot.idle, desired: ReaderSlot.busy, ordering: .acquiring
      ).exchanged {
        return unsafe candidate
      }
    }
    if unsafe extras.pointee.add(1, ordering: .acquiring).newValue <= 0 {
      unsafe extras.pointee.subtract(1, ordering: .releasing)
      return nil
    }
    let made = UnsafeMutablePointer<ReaderSlot>.allocate(capacity: 1)
    unsafe made.initialize(to: ReaderSlot(index: Self.slotCount, extra: extras))
    return unsafe made
  }

  /// Gives a slot back; its transaction must have been reset.
  @inline(__always)
  static func release(_ slot: UnsafeMutablePointer<ReaderSlot>) {
    if unsafe slot.pointee.extra == nil {
      unsafe slot.pointee.state.store(ReaderSlot.idle, ordering: .releasing)
    } else {
      unsafe discard(slot)
    }
  }

  @inline(never)
  private static func discard(_ slot: UnsafeMutablePointer<ReaderSlot>) {
    if let transaction = unsafe slot.pointee.transaction { unsafe mdb_txn_abort(transaction) }
    let extra = unsafe slot.pointee.extra
    unsafe slot.deinitialize(count: 1)
    unsafe slot.deallocate()
    unsafe extra?.pointee.subtract(1, ordering: .releasing)
  }

  /// Ends the pooled transactions for good. Only inside ``withAllIdle(patience:_:)``.
  func abortAll() {
    for index in 0..<Self.slotCount {
      if let transaction = unsafe slot(index).pointee.transaction {
        unsafe mdb_txn_abort(transaction)
      }
      unsafe slot(index).pointee.transaction = nil
    }
  }

  /// Runs `body` while no read transaction of this process is under way, and none can begin.
  ///
  /// - Returns: nil if reads were still under way after `patience`.
  func withAllIdle<Result>(patience: Duration, _ body: () throws -> Result) rethrows -> Result? {
    let deadline = ContinuousClock.now + patience
    let shut = 1_000_000
    unsafe extras.pointee.subtract(shut, ordering: .acquiring)
    var taken = 0
    defer {
      for index in 0..<taken {
        unsafe slot(index).pointee.state.store(ReaderSlot.idle, ordering: .releasing)
      }
      unsafe extras.pointee.add(shut, ordering: .releasing)
    }
    while taken < Self.slotCount {
      if unsafe slot(taken).pointee.state.compareExchange(
        expected: ReaderSlot.idle, desired: ReaderSlot.busy, ordering: .acquiring
      ).exchanged {
        taken += 1
      } else if ContinuousClock.now > deadline {
        return nil
      } else {
        pause()
      }
    }
    while unsafe extras.pointee.load(ordering: .acquiring) > -shut {
      if ContinuousClock.now > deadline { return nil }
      pause()
    }
    return try body()
  }
}
