import Foundation
public import Larder

/// Work on a store that one process on the machine does at a time.
///
/// It is a lock of a file beside the store, which the system releases with a killed process. On a file system
/// without locks it keeps nobody out.
public struct StoreLock: Sendable {
  private let file: FileHandle?

  /// Throws ``LarderError/Code/busy`` if another one has it.
  ///
  /// - Parameter name: that of the work: other work goes on beside it.
  public init(of store: Store, named name: String) throws(LarderError) {
    file = Self.file("\(store.path).\(name).lock", O_RDONLY | O_CREAT)
    if let file, flock(file.fileDescriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
      throw LarderError(
        .busy, "another program of \(store.path) runs", hint: "run it again after that one")
    }
  }

  /// Nil if it cannot be opened. A program that this process starts does not inherit the lock.
  private static func file(_ path: String, _ flags: Int32) -> FileHandle? {
    let number = unsafe open(path, flags | O_CLOEXEC, 0o600)
    return number < 0 ? nil : FileHandle(fileDescriptor: number, closeOnDealloc: true)
  }
}
