import CLMDB
package import LarderSystem

/// A wait for a lock file that another process holds, which took longer than the lock timeout.
extension LMDBError {
  package static let openingBusy = LMDBError(code: -31_021)
  package static let readersBusy = LMDBError(code: -31_022)
  package static let checkpointBusy = LMDBError(code: -31_023)
  package static let mapsBusy = LMDBError(code: -31_024)

  /// The lock file and its purpose; nil for another error.
  var busyLock: (name: String, purpose: String)? {
    switch self {
    case .busy: ("lock.write", "writers")
    case .openingBusy: ("lock.opening", "opening and closing")
    case .readersBusy: ("lock.readers", "the reader table")
    case .checkpointBusy: ("lock.checkpoint", "checkpoints")
    case .mapsBusy: ("lock.maps", "files that processes share")
    default: nil
    }
  }

  package var isBusy: Bool { busyLock != nil }

  var busyWords: String? {
    busyLock.map { "another process holds \($0.name), the lock of \($0.purpose)" }
  }

  /// The words of LMDB or the system. Those of LMDB begin with the name of the code in C.
  var systemWords: String {
    let words = unsafe String(cString: mdb_strerror(code))
    guard words.hasPrefix("MDB_"), let name = words.firstIndex(of: " ") else { return words }
    return String(words[words.index(after: name)...])
  }
}

extension OpenError {
  /// The environment in a directory cannot be used: another process holds a lock of it, or the system refuses.
  init(_ cause: LMDBError, in directory: String) {
    self.init(
      cause.isBusy ? .busy : .system, path: directory,
      detail: StoreLocks.holders(of: cause, in: directory), cause: cause)
  }
}
