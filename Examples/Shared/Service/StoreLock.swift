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
      name.map { Self.file("\(store.path).\($0).lock") } ?? FileHandle(forReadingAtPath: store.path)
    if let file, flock(file.fileDescriptor, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0,
      errno == EWOULDBLOCK
    {
      throw LarderError(
        .busy, "\(others) of \(store.path) runs", hint: "run it again after that one")
    }
  }

  /// The file, which is made if it does not exist; nil if it cannot be opened.
  private static func file(_ path: String) -> FileHandle? {
    let number = unsafe open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0o600)
    return number < 0 ? nil : FileHandle(fileDescriptor: number, closeOnDealloc: true)
  }
}
