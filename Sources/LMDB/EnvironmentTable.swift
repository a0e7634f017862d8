import Synchronization

/// The environments this process has open, by the identity of their data file: LMDB allows each only once.
enum EnvironmentTable {
  private struct Entry {
    weak var environment: Environment?
  }

  private static let entries = Mutex<[FileIdentity: Entry]>([:])
  /// Held while one is opened, so that two threads cannot open the same one.
  private static let opening = Mutex<Void>(())

  /// The environment with that identity if it is open, otherwise what `open` makes.
  static func environment(
    identity: () -> FileIdentity?, open: () throws(OpenError) -> Environment
  ) throws(OpenError) -> Environment {
    let result = opening.withLock { _ -> Result<Environment, OpenError> in
      if let identity = identity(), let found = find(identity) { return .success(found) }
      do throws(OpenError) {
        let made = try open()
        entries.withLock { $0[made.identity] = Entry(environment: made) }
        return .success(made)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// One that is being closed still holds LMDB's locks, so its end is waited for.
  private static func find(_ identity: FileIdentity) -> Environment? {
    while true {
      guard let entry = entries.withLock({ $0[identity] }) else { return nil }
      if let environment = entry.environment {
        if environment.isOpen { return environment }
        if environment.isForked { return nil }
      }
      pause()
    }
  }

  /// Called when LMDB has let go of the environment.
  static func forget(_ identity: FileIdentity) {
    entries.withLock { $0[identity] = nil }
  }
}
