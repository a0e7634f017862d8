/// How an environment is opened.
package struct EnvironmentOptions: Sendable {
  /// When a commit is on the disk.
  package enum Flush: Sendable, Equatable {
    /// Before the commit returns.
    case everyCommit
    /// The data before the commit returns, the page that names it with the next commit (`MDB_NOMETASYNC`).
    case dataOnly
    /// Never by itself (`MDB_NOSYNC`): a killed process loses nothing, a power cut leaves a file that cannot be used. For
    /// environments that do not outlive the process anyway.
    case never
  }

  /// Make the environment if there is none.
  package var create = true
  package var flush = Flush.everyCommit
  /// The named databases it must have.
  package var databases: [String] = []
  /// The address space to begin with; it grows when half of it is used.
  package var mapSize = 16 << 30
  /// How long a write waits for other processes.
  package var patience = Duration.seconds(10)
  package var foreignOwner = false
  package var networkFileSystem = false
  /// The key of a record in the main database that only our own files have.
  package var signature: [UInt8] = []

  package init() {}
}
