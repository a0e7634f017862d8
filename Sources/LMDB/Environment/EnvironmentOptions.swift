package import LarderSystem

/// How an environment is opened.
package struct EnvironmentOptions: Sendable {
  /// Make the environment if there is none.
  package var create = true
  /// Nothing is ever repaired, restored or emptied.
  package var readOnly = false
  /// What survives a power cut; nil: what the environment has, ``DurabilityLevel/standard`` for a new one.
  package var durability: DurabilityLevel?
  /// Give the environment that level if it has another, which nobody may have open then.
  package var changesDurability = false
  /// At the level grouped, how long after a commit it is safe.
  package var checkpointInterval = Duration.milliseconds(200)
  /// Which start of the machine this is; nil: the one it is.
  package var boot: BootIdentity?
  /// The named databases it must have.
  package var databases: [String] = []
  /// The address space to begin with; it grows when half of it is used.
  package var mapSize = 16 << 30
  /// How long a write waits for other processes.
  package var lockTimeout = Duration.seconds(10)
  package var foreignOwner = false
  package var networkFileSystem = false
  /// The key of a record in the main database that only our own files have.
  package var signature: [UInt8] = []

  package init() {}
}
