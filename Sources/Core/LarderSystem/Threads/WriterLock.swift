import CLarderSystem
import Synchronization

/// A lock that the threads of a process get in the order of their requests. The owner must not enter the lock again.
@safe package final class WriterLock: @unchecked Sendable {
  nonisolated(unsafe) private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  nonisolated(unsafe) private let condition: UnsafeMutablePointer<pthread_cond_t>
  /// The identity of the thread that owns the lock; 0 if the lock is free. Changed only while `mutex` is held.
  private let owner = Atomic<UInt64>(0)
  // The fields below are used only while `mutex` is held.

  /// The tickets of the waiting threads, in the order of arrival.
  private var waiting: [UInt64] = []
  private var lastTicket: UInt64 = 0
  private var turns: UInt64 = 0

  package init() {
    unsafe mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    unsafe condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    unsafe pthread_mutex_init(mutex, nil)
    unsafe larder_cond_init(condition)
  }

  deinit {
    // `pthread_cond_destroy` is not called: in a forked child it would wait for the waiting threads of the parent.
    unsafe mutex.deallocate()
    unsafe condition.deallocate()
  }

  package var isMine: Bool { owner.load(ordering: .relaxed) == threadIdentity }

  /// Waits for the lock without a limit.
  package func enter() { while !enter(lockTimeout: .seconds(1 << 30)) {} }

  /// Takes the lock if it is free and no thread waits. Returns whether the calling thread now owns the lock.
  package func tryEnter() -> Bool { !isMine && enter(lockTimeout: .zero) }

  /// The owner and the calling thread, for messages: `thread 7 (main) has it, and thread 8 waits for it`.
  package var situation: String {
    unsafe pthread_mutex_lock(mutex)
    // The owner needs the mutex to leave the lock. So the owner's thread cannot end while its name is read.
    defer { unsafe pthread_mutex_unlock(mutex) }
    let holder = isFree ? "no thread" : threadDescription(of: owner.load(ordering: .relaxed))
    return "\(holder) has it, and \(threadDescription(of: threadIdentity)) waits for it"
  }

  /// Waits for the lock, at most for `lockTimeout`. Returns whether the calling thread now owns the lock.
  ///
  /// - Parameter perOwner: if true, the time begins again with each new owner. So the result is false only if one owner keeps
  ///   the lock for the whole time. That owner may be waiting for the calling thread.
  package func enter(lockTimeout: Duration, perOwner: Bool = false) -> Bool {
    precondition(!isMine, "the thread owns the lock already")
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    if isFree, waiting.isEmpty { return own() }
    let most = lockTimeout.waitMilliseconds
    if most == 0 { return false }
    lastTicket += 1
    let ticket = lastTicket
    waiting.append(ticket)
    var end = SystemTime.monotonicMilliseconds + most
    var turn = turns
    while !isFree || waiting.first != ticket {
      if perOwner, turn != turns || isFree {
        (turn, end) = (turns, SystemTime.monotonicMilliseconds + most)
      }
      if SystemTime.monotonicMilliseconds >= end {
        waiting.removeAll { $0 == ticket }
        // The removed thread may have been the first, so the next thread in `waiting` must check whether it is the first now.
        unsafe pthread_cond_broadcast(condition)
        return false
      }
      unsafe larder_cond_wait_until(condition, mutex, end)
    }
    waiting.removeFirst()
    return own()
  }

  package func leave() {
    unsafe pthread_mutex_lock(mutex)
    owner.store(0, ordering: .relaxed)
    if !waiting.isEmpty { unsafe pthread_cond_broadcast(condition) }
    unsafe pthread_mutex_unlock(mutex)
  }

  private var isFree: Bool { owner.load(ordering: .relaxed) == 0 }

  private func own() -> Bool {
    owner.store(threadIdentity, ordering: .relaxed)
    turns &+= 1
    return true
  }
}
