import CLMDB
import LarderSystem
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
  /// Tells a view that a forked child inherited: to end it there would end the parent's.
  let shared: UnsafeMutablePointer<ForkState>
  /// Set for a slot outside the pool: the count of such slots, to be lowered when the read ends.
  let extra: UnsafeMutablePointer<Atomic<Int>>?

  init(
    index: Int, shared: UnsafeMutablePointer<ForkState>, extra: UnsafeMutablePointer<Atomic<Int>>?
  ) {
    state = unsafe Atomic(extra == nil ? Self.idle : Self.busy)
    self.index = index
    unsafe self.transaction = nil
    unsafe self.shared = shared
    unsafe self.extra = extra
  }

  @inline(__always)
  var isInherited: Bool {
    unsafe shared.pointee.phase.load(ordering: .relaxed) == ForkState.forked
  }
}

/// Read transactions that are renewed instead of created: no lock, no allocation and no system call for a read.
///
/// A thread begins at a home slot derived from its identity and takes the first idle one. When all are busy a
/// transaction of its own is made for that read and thrown away after it. Whoever holds a slot may count on the map
/// staying where it is; the writer has one for itself.
@safe final class ReaderPool: Sendable {
  static let slotCount = 16
  private static let writerSlot = slotCount

  nonisolated(unsafe) private let slots: UnsafeMutableRawPointer
  /// Reads outside the pool that are under way; ``shut`` is added while ``withAllIdle`` keeps them out.
  nonisolated(unsafe) private let extras: UnsafeMutablePointer<Atomic<Int>>
  private static let shut = -1_000_000
  /// Kept for the state that the slots point to.
  private let locks: StoreLocks

  init(locks: StoreLocks) {
    self.locks = locks
    unsafe slots = UnsafeMutableRawPointer.allocate(
      byteCount: (Self.slotCount + 1) * ReaderSlot.stride, alignment: ReaderSlot.stride)
    unsafe extras = UnsafeMutablePointer<Atomic<Int>>.allocate(capacity: 1)
    unsafe extras.initialize(to: Atomic(0))
    for index in 0...Self.slotCount {
      unsafe slot(index).initialize(to: ReaderSlot(index: index, shared: locks.state, extra: nil))
    }
  }

  deinit {
    for index in 0...Self.slotCount { unsafe slot(index).deinitialize(count: 1) }
    unsafe slots.deallocate()
    unsafe extras.deinitialize(count: 1)
    unsafe extras.deallocate()
  }

  @inline(__always)
  private func slot(_ index: Int) -> UnsafeMutablePointer<ReaderSlot> {
    unsafe (slots + index &* ReaderSlot.stride).assumingMemoryBound(to: ReaderSlot.self)
  }

  @inline(__always)
  private static func take(_ slot: UnsafeMutablePointer<ReaderSlot>) -> Bool {
    unsafe slot.pointee.state.compareExchange(
      expected: ReaderSlot.idle, desired: ReaderSlot.busy, ordering: .acquiring
    ).exchanged
  }

  /// A slot that belongs to the caller until it is released; nil while the pool is shut.
  @inline(__always)
  func acquire() -> UnsafeMutablePointer<ReaderSlot>? {
    let home = Int(truncatingIfNeeded: (threadIdentity &* 0x9E37_79B9_7F4A_7C15) &>> 60)
    let first = unsafe slot(home)
    if unsafe Self.take(first) { return unsafe first }
    return unsafe acquireElsewhere(home: home)
  }

  @inline(never)
  private func acquireElsewhere(home: Int) -> UnsafeMutablePointer<ReaderSlot>? {
    for step in 1..<Self.slotCount {
      let candidate = unsafe slot((home + step) % Self.slotCount)
      if unsafe Self.take(candidate) { return unsafe candidate }
    }
    if unsafe extras.pointee.add(1, ordering: .acquiring).newValue <= 0 {
      unsafe extras.pointee.subtract(1, ordering: .releasing)
      return nil
    }
    let made = UnsafeMutablePointer<ReaderSlot>.allocate(capacity: 1)
    unsafe made.initialize(
      to: ReaderSlot(index: Self.slotCount, shared: locks.state, extra: extras))
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

  /// Gives back a slot whose read did not come about, wherever it got to.
  func abandon(_ slot: UnsafeMutablePointer<ReaderSlot>) {
    if let transaction = unsafe slot.pointee.transaction { unsafe mdb_txn_reset(transaction) }
    unsafe Self.release(slot)
  }

  @inline(never)
  private static func discard(_ slot: UnsafeMutablePointer<ReaderSlot>) {
    if let transaction = unsafe slot.pointee.transaction { unsafe mdb_txn_abort(transaction) }
    let extra = unsafe slot.pointee.extra
    unsafe slot.deinitialize(count: 1)
    unsafe slot.deallocate()
    unsafe extra?.pointee.subtract(1, ordering: .releasing)
  }

  /// Keeps the map where it is for a write. Called with the writer's gate held; waits while the map is being moved.
  func enterWriter() {
    while !(unsafe Self.take(slot(Self.writerSlot))) { backOff() }
  }

  func leaveWriter() {
    unsafe Self.release(slot(Self.writerSlot))
  }

  /// Ends the pooled transactions for good. Only inside ``withAllIdle(lockTimeout:_:)``.
  func abortAll() {
    for index in 0..<Self.slotCount {
      if let transaction = unsafe slot(index).pointee.transaction {
        unsafe mdb_txn_abort(transaction)
      }
      unsafe slot(index).pointee.transaction = nil
    }
  }

  /// Runs `body` while no transaction of this process is under way, and none can begin.
  ///
  /// Slots are taken in order, so that of two callers one waits at the first slot. Reads that find the pool busy
  /// meanwhile go on outside it; they are kept out only at last, when there is but one caller left.
  ///
  /// - Returns: nil if transactions were still under way after `lockTimeout`.
  func withAllIdle<Result>(lockTimeout: Duration, _ body: () throws -> Result) rethrows -> Result? {
    let deadline = ContinuousClock.now + lockTimeout
    var taken = 0
    defer {
      for index in 0..<taken { unsafe Self.release(slot(index)) }
    }
    while taken <= Self.slotCount {
      if unsafe Self.take(slot(taken)) {
        taken += 1
      } else if ContinuousClock.now > deadline {
        return nil
      } else {
        backOff()
      }
    }
    unsafe extras.pointee.add(Self.shut, ordering: .acquiring)
    defer { unsafe extras.pointee.subtract(Self.shut, ordering: .releasing) }
    while unsafe extras.pointee.load(ordering: .acquiring) > Self.shut {
      if ContinuousClock.now > deadline { return nil }
      backOff()
    }
    return try body()
  }
}
