package import LarderSystem

/// Parts of the machine that tests replace, and sizes that tests make small.
package struct TestHooks: Sendable {
  /// The identity of the machine's last boot; nil for the real identity.
  package var boot: BootIdentity?
  /// The size in bytes above which a value is stored in chunks, even if it needs no chunks; nil for no such size.
  package var chunksAbove: Int?
  /// Runs a closure once, after a delay, on another thread.
  package var timer: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void =
    PendingAccesses.later
  /// How many changes the ring holds: a power of two, equal in every process; nil for a number that fits the store.
  package var changeSlots: Int?
  /// The machine's monotonic clock in milliseconds, for the leases of subscriptions and loads between processes.
  package var machineClock: @Sendable () -> Int64 = { SystemTime.monotonicMilliseconds }
  package var memoryPressure: @Sendable () -> MemoryPressure = { MemoryPressure.current() }
  /// The least number of words in the log with which a commit stores records while processes append, and a closure that the
  /// commit calls after it has stored such records.
  package var drainsAhead: (least: Int, then: @Sendable () -> Void)?
  /// The free bytes on the file system of a path; nil if the system does not tell.
  package var freeDisk: @Sendable (String) -> Int? = { FileStatus.freeSpace(at: $0) }
}
