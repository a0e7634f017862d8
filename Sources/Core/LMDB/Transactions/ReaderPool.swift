import CLMDB
import LarderSystem
import Synchronization

/// Read transactions that are renewed instead of created, so that a read needs no lock, no allocation and no system call.
///
/// A thread begins its search at a slot that depends on the thread's identity. If all slots are busy, the read gets a separate
/// transaction, which ends with the read. While any slot is taken, even the slot of the writer, the map does not move.
@safe final class ReaderPool: Sendable {
  static let slotCount = 16
  private static let writerSlot = slotCount

  nonisolated(unsafe) private let slots: UnsafeMutableRawPointer
  /// The number of running reads outside the pool; negative while ``withAllIdle(lockTimeout:_:)`` prevents such reads.
  nonisolated(unsafe) private let extras: UnsafeMutablePointer<Atomic<Int>>
  private static let shut = -1_000_000
  /// The owner of the state to which the slots point. This reference keeps the state in memory.
  private let owner: ForkGuard
  private let names: [[UInt8]]

  init(owner: ForkGuard, names: [[UInt8]]) {
    precondition(Self.slotCount == StripedCounters.shared)
    precondition(MemoryLayout<ReaderSlot>.size <= ReaderSlot.stride)
    self.owner = owner
    self.names = names
    unsafe slots = UnsafeMutableRawPointer.allocate(
      byteCount: (Self.slotCount + 1) * ReaderSlot.stride, alignment: 128)
    unsafe extras = UnsafeMutablePointer<Atomic<Int>>.allocate(capacity: 1)
    unsafe extras.initialize(to: Atomic(0))
    for index in 0...Self.slotCount {
      unsafe slot(index).initialize(
        to: ReaderSlot(index: index, names: names, shared: owner.state, extra: nil))
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

  private static func take(_ slot: UnsafeMutablePointer<ReaderSlot>) -> Bool {
    unsafe slot.pointee.change(ReaderSlot.idle, to: ReaderSlot.busy)
      || slot.pointee.change(ReaderSlot.resting, to: ReaderSlot.busy)
  }

  /// A slot, which the caller owns until it releases the slot. Nil while the pool is closed.
  @inline(__always)
  func acquire() -> UnsafeMutablePointer<ReaderSlot>? {
    let home = Int(truncatingIfNeeded: (threadIdentity &* 0x9E37_79B9_7F4A_7C15) &>> 60)
    let first = unsafe slot(home)
    if unsafe first.pointee.change(ReaderSlot.idle, to: ReaderSlot.busy) { return unsafe first }
    return unsafe acquireElsewhere(home: home)
  }

  @inline(never)
  private func acquireElsewhere(home: Int) -> UnsafeMutablePointer<ReaderSlot>? {
    for step in 0..<Self.slotCount {
      let candidate = unsafe slot((home + step) % Self.slotCount)
      if unsafe Self.take(candidate) { return unsafe candidate }
    }
    if unsafe extras.pointee.add(1, ordering: .acquiring).newValue <= 0 {
      unsafe extras.pointee.subtract(1, ordering: .releasing)
      return nil
    }
    let made = UnsafeMutablePointer<ReaderSlot>.allocate(capacity: 1)
    unsafe made.initialize(
      to: ReaderSlot(index: Self.slotCount, names: names, shared: owner.state, extra: extras))
    return unsafe made
  }

  /// Releases a slot whose transaction is already reset.
  @inline(__always)
  static func release(_ slot: UnsafeMutablePointer<ReaderSlot>) {
    if unsafe slot.pointee.extra == nil {
      unsafe slot.pointee.state.store(ReaderSlot.idle, ordering: .releasing)
    } else {
      unsafe discard(slot)
    }
  }

  /// Releases the slot of a read that failed, at any point of the read.
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

  /// Keeps the map at its place during a write. If the map is moving, waits. The caller owns the writer lock.
  func enterWriter() { while !(unsafe Self.take(slot(Self.writerSlot))) { backOff() } }

  func leaveWriter() { unsafe Self.release(slot(Self.writerSlot)) }

  /// Frees the slots of transactions that were not used after the last sweep. Returns whether any transaction is left.
  func sweep() -> Bool {
    var anyIsOpen = false
    for index in 0..<Self.slotCount {
      let slot = unsafe slot(index)
      if unsafe slot.pointee.change(ReaderSlot.resting, to: ReaderSlot.busy) {
        unsafe end(slot)
        unsafe Self.release(slot)
      } else if unsafe slot.pointee.change(ReaderSlot.idle, to: ReaderSlot.busy) {
        let hasTransaction = unsafe slot.pointee.transaction != nil
        if hasTransaction { anyIsOpen = true }
        unsafe slot.pointee.state.store(
          hasTransaction ? ReaderSlot.resting : ReaderSlot.idle, ordering: .releasing)
      } else {
        anyIsOpen = true
      }
    }
    return anyIsOpen
  }

  /// Ends all transactions. Called only inside ``withAllIdle(lockTimeout:_:)``.
  func abortAll() { for index in 0..<Self.slotCount { unsafe end(slot(index)) } }

  private func end(_ slot: UnsafeMutablePointer<ReaderSlot>) {
    if let transaction = unsafe slot.pointee.transaction { unsafe mdb_txn_abort(transaction) }
    unsafe slot.pointee.transaction = nil
  }

  /// Runs `body` while this process has no read transaction and none can begin. Returns false if a read has not ended after
  /// `lockTimeout`. If two threads call this function, the one that takes the first slot continues, and the other waits.
  func withAllIdle<Failure: Error>(
    lockTimeout: Duration, _ body: () throws(Failure) -> Void
  ) throws(Failure) -> Bool {
    let deadline = SuspendingClock.now + lockTimeout
    var taken = 0
    defer { for index in 0..<taken { unsafe Self.release(slot(index)) } }
    while taken <= Self.slotCount {
      if unsafe Self.take(slot(taken)) {
        taken += 1
      } else if SuspendingClock.now > deadline {
        return false
      } else {
        backOff()
      }
    }
    unsafe extras.pointee.add(Self.shut, ordering: .acquiring)
    defer { unsafe extras.pointee.subtract(Self.shut, ordering: .releasing) }
    while unsafe extras.pointee.load(ordering: .acquiring) > Self.shut {
      if SuspendingClock.now > deadline { return false }
      backOff()
    }
    try body()
    return true
  }
}
