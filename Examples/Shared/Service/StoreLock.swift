import Foundation
public import Larder

/// Work on a store that one process on the machine does at a time, or any number of them that share it.
///
/// It is a lock of the store's folder, which the system releases with a killed process. On a file system without locks it keeps
/// nobody out.
public struct StoreLock: Sendable {
  private let folder: FileHandle?

  /// Throws ``LarderError/Code/busy`` if another one has it.
  ///
  /// - Parameter others: those that may have it, for the error: `another import`.
  public init(
    of store: Store, isShared: Bool = false, beside others: String = "another program"
  ) throws(LarderError) {
    folder = FileHandle(forReadingAtPath: store.path)
    if let folder, flock(folder.fileDescriptor, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0,
      errno == EWOULDBLOCK
    {
      throw LarderError(
        .busy, "\(others) of \(store.path) runs", hint: "run it again after that one")
    }
  }

  /// The lock as soon as no other one has it.
  public static func awaited(of store: Store) async throws -> StoreLock {
    while true {
      do { return try StoreLock(of: store) } catch {
        guard error.code == .busy else { throw error }
        try await Task.sleep(for: .milliseconds(50))
      }
    }
  }
}
