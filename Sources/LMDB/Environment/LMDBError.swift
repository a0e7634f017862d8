import CLMDB
import CLarderSystem
package import LarderSystem

/// The error of a call into LMDB or the system: an `errno` value, one of LMDB's codes, or one of this layer's own.
package typealias LMDBError = SystemError

extension SystemError: CustomStringConvertible {
  package static let mapFull = LMDBError(code: MDB_MAP_FULL)
  package static let mapResized = LMDBError(code: MDB_MAP_RESIZED)
  package static let readersFull = LMDBError(code: MDB_READERS_FULL)
  package static let panic = LMDBError(code: MDB_PANIC)
  package static let badValueSize = LMDBError(code: MDB_BAD_VALSIZE)
  package static let corrupted = LMDBError(code: MDB_CORRUPTED)
  package static let pageNotFound = LMDBError(code: MDB_PAGE_NOTFOUND)

  // LMDB's codes are -30799...-30780; these are ours.
  package static let closed = LMDBError(code: -31_001)
  package static let forked = LMDBError(code: -31_002)
  package static let lockMismatch = LMDBError(code: -31_004)
  package static let replaced = LMDBError(code: -31_005)
  package static let mapHeld = LMDBError(code: -31_006)
  package static let occupied = LMDBError(code: -31_007)
  package static let stopped = LMDBError(code: -31_008)

  package var description: String {
    switch self {
    case .closed: "the store is closed"
    case .forked: "the store was opened before this process was forked"
    case .busy: "another process holds the write lock"
    case .lockMismatch: "the lock file does not agree with the data file"
    case .replaced: "the store's files were replaced or deleted while it was open"
    case .mapHeld:
      "the store's size or its limit changed, and a read of this process keeps it from following"
    case .occupied: "another process has the store open"
    case .stopped: "it was stopped"
    default: unsafe String(cString: mdb_strerror(code))
    }
  }

  package var recoverySuggestion: String {
    switch self {
    case .closed: "open it again"
    case .forked: "open the store in the child process itself"
    case .busy: "find the process that holds a write transaction, or allow a longer wait"
    case .lockMismatch:
      "close the store in every process and open it again; never delete or copy lock.mdb while it is in use"
    case .replaced: "close this store and open it again"
    case .mapHeld: "end the reads that have been open for long, then try again"
    case .occupied: "close it there first"
    case .stopped: "nothing was changed; begin again"
    case .mapFull: "raise the disk limit or remove entries"
    case .readersFull:
      "close stores or snapshots in other processes; at most 1,022 reads at once are possible"
    case .diskFull: "free space on the disk; the store is intact"
    case .inputOutput: "check the disk and the system log; the last finished write is intact"
    case .panic: "close the store and open it again"
    case .corrupted, .pageNotFound: "run verify, and restore or start the store anew"
    case LMDBError(code: EACCES), LMDBError(code: EPERM):
      "check who owns the store's directory and files"
    default: "see the message; the last finished write is intact"
    }
  }
}
