import CLMDB
package import LarderSystem

/// The errors of waits that took longer than the lock timeout because another process holds the lock file.
extension LMDBError {
  package static let openingBusy = LMDBError(code: -31_021)
  package static let readersBusy = LMDBError(code: -31_022)
  package static let checkpointBusy = LMDBError(code: -31_023)
  package static let mapsBusy = LMDBError(code: -31_024)

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

  /// The text of the system or of LMDB. The name of LMDB's error code, which is at the beginning of LMDB's text, is removed.
  var systemWords: String {
    let words = unsafe String(cString: mdb_strerror(code))
    guard words.hasPrefix("MDB_"), let name = words.firstIndex(of: " ") else { return words }
    return String(words[words.index(after: name)...])
  }
}

extension OpenError {
  /// Runs `body`. If `body` throws, throws an error for the file or directory at `path`, with the error of `body` as the cause.
  /// If `body` waits for a lock, `path` must be the directory of that lock.
  static func wrapping<Result: ~Copyable>(
    path: String, _ body: () throws(LMDBError) -> Result
  ) throws(OpenError) -> Result {
    do throws(LMDBError) {
      return try body()
    } catch {
      throw OpenError(error, in: path)
    }
  }

  init(_ cause: LMDBError, in directory: String) {
    self.init(
      cause.isBusy ? .busy : .system, path: directory,
      detail: StoreLocks.holders(of: cause, in: directory), cause: cause)
  }
}
