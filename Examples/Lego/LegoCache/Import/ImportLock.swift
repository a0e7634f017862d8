import Foundation
import Larder

/// The right to import into a store, which one import on the machine has at a time.
///
/// Two at once would leave a mix of two dumps. It is a lock of the store's folder, which the system releases with a killed
/// process.
struct ImportLock: ~Copyable {
  /// -1 for a store in memory.
  private let descriptor: Int32

  /// Throws ``LarderError/Code/busy`` if another import has it.
  init(of store: Store) throws(LarderError) {
    descriptor = unsafe open(store.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK else {
      return
    }
    close(descriptor)
    throw LarderError(
      .busy, "another import into \(store.path) runs", hint: "run it again after that one")
  }

  deinit { if descriptor >= 0 { close(descriptor) } }
}
