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
  package static let insideWrite = LMDBError(code: -31_009)

  package var description: String {
    switch self {
    case .closed: "the store is closed"
    case .forked: "the store was opened before this process was forked"
    case .busy: "another process holds the write lock"
    case .lockMismatch: "the lock file does not match the data file"
    case .replaced: "the store's files were replaced or deleted while it was open"
    case .mapHeld:
      "the store's size or limit changed, and a read in this process prevents remapping"
    case .occupied: "another process has the store open"
    case .stopped: "the copy was stopped"
    case .insideWrite: "a write inside a write on the same thread"
    case .readersFull: "all \(Environment.maximumReaders) places for readers are in use"
    case .damagedPage: "a page of the data file is damaged"
    default: unsafe String(cString: mdb_strerror(code))
    }
  }

  package var recoverySuggestion: String {
    switch self {
    case .closed: "open it again"
    case .forked: "open the store in the child process itself"
    case .busy: "wait for that process or end it, or allow a longer lock timeout"
    case .lockMismatch:
      "close the store in every process and open it again; never delete or copy lock.mdb while the store is open"
    case .replaced: "close the store and open it again"
    case .mapHeld: "end long reads, then try again"
    case .occupied: "close the store in that process first"
    case .stopped: "nothing was changed; start again"
    case .insideWrite: "use the batch that the outer write passes to its closure"
    case .mapFull: "raise the disk limit or remove entries"
    case .readersFull:
      "close the store or end snapshots in some of those processes; an idle process releases its places within 10 s"
    case .diskFull: "free space on the disk; the store is intact"
    case .fileTooLarge: "allow the process larger files (ulimit -f); the store is intact"
    case .inputOutput: "check the disk and the system log; the last finished write is intact"
    case .panic: "close the store and open it again"
    case .damagedPage:
      "copy everything readable into a new store: larder STORE salvage NEW; until then it can only be read"
    case .corrupted, .pageNotFound: "copy what is readable with salvage, or restore a backup"
    case LMDBError(code: ENOMEM):
      "allow the process more memory or address space (ulimit -v): the store is mapped into memory"
    case LMDBError(code: EMFILE), LMDBError(code: ENFILE):
      "allow more open files (ulimit -n): a store needs 13, beside those of the program; 64 are enough for most"
    case LMDBError(code: EACCES), LMDBError(code: EPERM):
      "check who owns the store's directory and files"
    case LMDBError(code: EROFS):
      "read it with `readOnly` (larder --read-only), or copy it to a disk that can be written"
    default: "see the message; the last finished write is intact"
    }
  }
}
