import Foundation
import Larder

/// The right to import into a store, which one import on the machine has at a time.
///
/// Two at once would leave a mix of two dumps. It is a lock of the store's folder, which the system releases with a killed
/// process.
struct ImportLock {
  private let folder: FileHandle

  /// Throws ``LarderError/Code/busy`` if another import has it. Nil for a store in memory, and on a file system without locks.
  init?(of store: Store) throws(LarderError) {
    guard let folder = FileHandle(forReadingAtPath: store.path) else { return nil }
    if flock(folder.fileDescriptor, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK else { return nil }
      throw LarderError(
        .busy, "another import into \(store.path) runs", hint: "run it again after that one")
    }
    self.folder = folder
  }
}
