import CLMDB
import CLarderSystem
import LarderSystem
import Synchronization

/// The environments this process has open, by the identity of their data file: LMDB allows each only once.
enum EnvironmentTable {
  private struct Entry {
    weak var environment: Environment?
    let lockIdentity: FileIdentity
    /// Entries that a forked child inherited are not its own.
    let process: pid_t
  }

  private static let entries = Mutex<[FileIdentity: Entry]>([:])
  /// Held while one is opened, so that two threads cannot open the same one.
  private static let opening = Mutex<Void>(())

  /// The environment in `files` if it is open, otherwise what `open` makes.
  static func environment(
    in files: StoreFiles, lockTimeout: Duration, open: () throws(OpenError) -> Environment
  ) throws(OpenError) -> Environment {
    let result = opening.withLock { _ -> Result<Environment, OpenError> in
      do throws(OpenError) {
        if let found = try find(files, lockTimeout: lockTimeout) { return .success(found) }
        let made = try open()
        entries.withLock {
          $0[made.identity] = Entry(
            environment: made, lockIdentity: made.lockIdentity, process: getpid())
        }
        return .success(made)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// One that is being closed still holds LMDB's locks, so its end is waited for.
  private static func find(_ files: StoreFiles, lockTimeout: Duration) throws(OpenError)
    -> Environment?
  {
    let data = FileStatus.of(files.data).map(FileIdentity.init)
    let lock = FileStatus.of(files.lock).map(FileIdentity.init)
    let deadline = ContinuousClock.now + lockTimeout
    while true {
      let mine = entries.withLock { $0.filter { $0.value.process == getpid() } }
      guard let data, let entry = mine[data] else {
        // With another data file but the same lock file LMDB would wipe the locks of the one that is open.
        if let lock, mine.values.contains(where: { $0.lockIdentity == lock }) {
          throw OpenError(.replaced, path: files.directory)
        }
        return nil
      }
      if let environment = entry.environment {
        if environment.isOpen { return environment }
        if environment.finishClosing() { continue }
      }
      if ContinuousClock.now > deadline { throw OpenError(.stillClosing, path: files.directory) }
      backOff()
    }
  }

  /// Called when LMDB has let go of the environment.
  static func forget(_ identity: FileIdentity) {
    entries.withLock { $0[identity] = nil }
  }
}
