package import LarderSystem

/// Parts of the machine that tests replace, and sizes that tests make small.
package struct TestHooks: Sendable {
  /// The identity of the machine's last boot; nil for the real identity.
  package var boot: BootIdentity?
  /// The size in bytes above which every value is stored in chunks. If nil, only values that need chunks are stored in chunks.
  package var chunksAbove: Int?
  /// Runs a closure once, after a delay, on another thread.
  package var timer: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void =
    PendingAccesses.later
  /// The size of the ring of changes: a power of two, equal in every process. If nil, the size of the data file decides.
  package var changeSlots: Int?
  /// The machine's monotonic clock in milliseconds, for the leases of subscriptions and loads between processes.
  package var machineClock: @Sendable () -> Int64 = { SystemTime.monotonicMilliseconds }
  package var memoryPressure: @Sendable () -> MemoryPressure = { MemoryPressure.current() }
  /// A commit calls this closure after it has stored the records of the older log of the write buffer.
  package var besideCommit: @Sendable () -> Void = {}
  /// The free bytes on the file system of a path; nil if unknown.
  package var freeDisk: @Sendable (String) -> Int? = { FileStatus.freeSpace(at: $0) }
}
