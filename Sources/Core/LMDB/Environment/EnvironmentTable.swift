import CLarderSystem
import LarderSystem
import Synchronization

/// The environments that this process has open, by the identity of their data files: a process may open each file only once.
/// Each use of the table is inside `ProcessTable.exclusively` and must not wait, so a forked child has the complete table.
enum EnvironmentTable {
  private struct Entry {
    weak var environment: Environment?
    let lockIdentity: FileIdentity
    /// The process that opened the environment. A forked child inherits the entries but does not own them.
    let process: pid_t
  }

  private struct Contents {
    var entries: [FileIdentity: Entry] = [:]
    /// The directories in which a thread is opening an environment, each with the process of that thread.
    var opening: [FileIdentity: pid_t] = [:]
  }

  private static let contents = Mutex(Contents())

  private static func update<Result>(_ body: (inout sending Contents) -> sending Result) -> Result {
    ProcessTable.exclusively { contents.withLock(body) }
  }

  static func environment(
    in files: StoreFiles, lockTimeout: Duration, open: () throws(OpenError) -> Environment
  ) throws(OpenError) -> Environment {
    guard let directory = FileStatus.of(files.directory).map(FileIdentity.init) else {
      throw OpenError(.absent, path: files.directory)
    }
    try reserve(directory, files, lockTimeout: lockTimeout)
    defer { update { $0.opening[directory] = nil } }
    if let found = try find(files, lockTimeout: lockTimeout) { return found }
    let made = try open()
    update {
      $0.entries[made.files.identity] = Entry(
        environment: made, lockIdentity: made.files.lockIdentity, process: getpid())
    }
    return made
  }

  /// Waits until no other thread is opening an environment in the directory.
  private static func reserve(
    _ directory: FileIdentity, _ files: StoreFiles, lockTimeout: Duration
  ) throws(OpenError) {
    let deadline = SuspendingClock.now + lockTimeout
    while true {
      let isReserved = update { contents in
        if contents.opening[directory] == getpid() { return false }
        contents.opening[directory] = getpid()
        return true
      }
      if isReserved { return }
      if SuspendingClock.now > deadline { throw OpenError(.busy, path: files.directory) }
      backOff(microseconds: 200)
    }
  }

  /// Finds the open environment. Waits for the end of a running close, because until then the environment holds LMDB's locks.
  private static func find(
    _ files: StoreFiles, lockTimeout: Duration
  ) throws(OpenError) -> Environment? {
    let data = FileStatus.of(files.data).map(FileIdentity.init)
    let lock = FileStatus.of(files.lock).map(FileIdentity.init)
    let deadline = SuspendingClock.now + lockTimeout
    while true {
      let mine = own
      guard let data, let entry = mine[data] else {
        // This lock file belongs to another open environment of this process. An opening would clear the locks of that one.
        if let lock, mine.values.contains(where: { $0.lockIdentity == lock }) {
          throw OpenError(.replaced, path: files.directory)
        }
        return nil
      }
      if let environment = entry.environment {
        if environment.isOpen { return environment }
        if environment.finishClosing() { continue }
      }
      if SuspendingClock.now > deadline { throw OpenError(.stillClosing, path: files.directory) }
      backOff()
    }
  }

  /// The entries of the environments that this process itself has opened.
  private static var own: [FileIdentity: Entry] {
    update { $0.entries }.filter { $0.value.process == getpid() }
  }

  static var all: [Environment] { own.values.compactMap(\.environment) }

  /// Called after LMDB has released the environment.
  static func forget(_ identity: FileIdentity) { update { $0.entries[identity] = nil } }
}
