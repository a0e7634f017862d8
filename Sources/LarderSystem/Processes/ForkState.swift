public import Synchronization

/// The phase of an open store, in memory that a forked child's handler may change.
@usableFromInline package struct ForkState: ~Copyable {
  @inlinable package static var open: UInt32 { 0 }
  package static let closed: UInt32 = 1
  /// Closed, and LMDB has released everything.
  package static let released: UInt32 = 2
  /// Inherited by a forked child, which must not use it.
  package static let forked: UInt32 = 3
  /// LMDB cannot continue until the store is opened again.
  package static let broken: UInt32 = 4

  @usableFromInline package let phase = Atomic<UInt32>(ForkState.closed)

  package var current: UInt32 { phase.load(ordering: .acquiring) }

  /// - Returns: false if the phase was not `old`.
  package func change(_ old: UInt32, to new: UInt32) -> Bool {
    phase.compareExchange(expected: old, desired: new, ordering: .acquiringAndReleasing).exchanged
  }
}
