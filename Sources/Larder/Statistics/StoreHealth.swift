import LMDB
import LarderSystem

/// Whether the files of an open store are as they were when it was opened.
public enum StoreHealth: Sendable, Hashable {
  /// The files are in their places, and can be written if the store was opened for writing.
  case healthy
  /// The directory or a file of the store was deleted or moved. Reads still see the deleted files, and writes throw: close
  /// the store and open it again.
  case missing
  /// Another store is at the path. Reads still see the old files, and writes throw: close the store and open it again.
  case replaced
  /// The directory or a file of the store may not be written any more, for the reason in words. Reads are not affected.
  case unwritable(String)
}

extension Store {
  /// Looks at the store's files: a few system calls, no lock. Throws ``LarderError/Code/closed`` for a closed store.
  ///
  /// ``changes(in:)`` reports every change of it while there is a subscription.
  public func health() throws(LarderError) -> StoreHealth {
    guard engine.environment.isOpen else { throw engine.error(.closed) }
    return StoreHealth(of: engine.environment, needsWriting: !isReadOnly)
  }
}

extension StoreHealth {
  init(of environment: Environment, needsWriting: Bool) {
    self =
      switch environment.fileProblem(needsWriting: needsWriting) {
      case nil: .healthy
      case .missing: .missing
      case .replaced: .replaced
      case .unwritable(let error): .unwritable(error.description)
      }
  }
}
