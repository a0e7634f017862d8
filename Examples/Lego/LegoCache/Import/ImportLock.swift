import Foundation
import Larder

/// The right to import into a store, which one import on the machine has at a time, or any number of refreshes.
///
/// Two imports at once, or an import and a refresh, would leave a mix of two sources. It is a lock of the store's folder, which
/// the system releases with a killed process.
struct ImportLock {
  private let folder: FileHandle

  /// Throws ``LarderError/Code/busy`` if an import has it, or for an import a refresh. Nil for a store in memory, and on a file system without locks.
  ///
  /// - Parameter isShared: whether it is for a refresh.
  init?(of store: Store, isShared: Bool = false) throws(LarderError) {
    guard let folder = FileHandle(forReadingAtPath: store.path) else { return nil }
    if flock(folder.fileDescriptor, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK else { return nil }
      throw LarderError(
        .busy, "another import\(isShared ? "" : " or a refresh") of \(store.path) runs",
        hint: "run it again after that one")
    }
    self.folder = folder
  }
}
