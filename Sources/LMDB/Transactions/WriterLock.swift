import CLMDB
import CLarderSystem
import LarderSystem
import Synchronization

/// The lock between this process's writers, before the one between processes.
///
/// Two locks instead of one make it fair: who waits holds the turn, so a thread that writes one batch after another
/// cannot overtake it.
@safe final class WriterLock: Sendable {
  nonisolated(unsafe) private let locks: UnsafeMutablePointer<pthread_mutex_t>
  private let owner = Atomic<UInt64>(0)

  init() {
    unsafe locks = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 2)
    unsafe pthread_mutex_init(locks, nil)
    unsafe pthread_mutex_init(locks + 1, nil)
  }

  deinit {
    unsafe pthread_mutex_destroy(locks)
    unsafe pthread_mutex_destroy(locks + 1)
    unsafe locks.deallocate()
  }

  /// Whether the calling thread is inside ``enter()``.
  var isMine: Bool { owner.load(ordering: .relaxed) == threadIdentity }

  func enter() {
    precondition(
      !isMine,
      "a write inside a write on the same thread: use the batch that the outer write was given")
    unsafe pthread_mutex_lock(locks)
    unsafe pthread_mutex_lock(locks + 1)
    unsafe pthread_mutex_unlock(locks)
    owner.store(threadIdentity, ordering: .relaxed)
  }

  /// Enters if nobody is in and nobody waits.
  func tryEnter() -> Bool {
    guard !isMine, unsafe pthread_mutex_trylock(locks) == 0 else { return false }
    let entered = unsafe pthread_mutex_trylock(locks + 1) == 0
    unsafe pthread_mutex_unlock(locks)
    if entered { owner.store(threadIdentity, ordering: .relaxed) }
    return entered
  }

  /// Enters if that is possible within `lockTimeout`; false if not.
  func enter(lockTimeout: Duration) -> Bool {
    let deadline = ContinuousClock.now + lockTimeout
    while !tryEnter() {
      if ContinuousClock.now >= deadline { return false }
      backOff()
    }
    return true
  }

  func leave() {
    owner.store(0, ordering: .relaxed)
    unsafe pthread_mutex_unlock(locks + 1)
  }
}
