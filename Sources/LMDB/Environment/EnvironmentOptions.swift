package import LarderSystem

/// How an environment is opened.
package struct EnvironmentOptions: Sendable {
  /// Creates the environment if it does not exist.
  package var create = true
  /// Never repairs, restores or empties the environment, and needs no permission to write its files.
  package var readOnly = false
  /// The required durability; nil accepts that of the environment, and means ``DurabilityLevel/standard`` for a new one.
  package var durability: DurabilityLevel?
  /// Changes the durability of an existing environment, which no process may have open.
  package var changesDurability = false
  /// At the level checkpointed, the time from a commit to the checkpoint that covers it.
  package var checkpointInterval = Duration.milliseconds(200)
  /// The current boot of the machine; nil asks the system.
  package var boot: BootIdentity?
  /// The named databases that the environment must have.
  package var databases: [String] = []
  /// The size of the map at first, if the process has that much address space; the map grows when half of it is used.
  package var mapSize = 16 << 30
  /// How long an open or a write waits for other processes.
  package var lockTimeout = Duration.seconds(10)
  /// Opens an environment that belongs to another user.
  package var foreignOwner = false
  /// Opens an environment on a network file system.
  package var networkFileSystem = false
  /// The key of a record in the main database that only Larder's files have.
  package var signature: [UInt8] = []

  package init() {}
}
