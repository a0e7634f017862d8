import Foundation
public import Larder

/// Work on a store that one process on the machine does at a time, or any number of them that share it.
///
/// It is a lock of the store's folder or of a file beside it, which the system releases with a killed process. On a file system
/// without locks it keeps nobody out.
public struct StoreLock: Sendable {
  private let file: FileHandle?

  /// Throws ``LarderError/Code/busy`` if another one has it.
  ///
  /// - Parameters:
  ///   - name: that of the work, for a lock of its own: other work goes on beside it. Nil for a lock of the whole store.
  ///   - others: those that may have it, for the error: `another import`.
  public init(
    of store: Store, named name: String? = nil, isShared: Bool = false,
    beside others: String = "another program"
  ) throws(LarderError) {
    file =
      name.map { Self.file("\(store.path).\($0).lock", O_RDONLY | O_CREAT) }
      ?? Self.file(store.path, O_RDONLY)
    if let file, flock(file.fileDescriptor, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0,
      errno == EWOULDBLOCK
    {
      throw LarderError(
        .busy, "\(others) of \(store.path) runs", hint: "run it again after that one")
    }
  }

  /// The file or folder; nil if it cannot be opened. A program that this process starts does not inherit the lock.
  private static func file(_ path: String, _ flags: Int32) -> FileHandle? {
    let number = unsafe open(path, flags | O_CLOEXEC, 0o600)
    return number < 0 ? nil : FileHandle(fileDescriptor: number, closeOnDealloc: true)
  }
}
