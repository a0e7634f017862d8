import CLMDB
import CLarderSystem
package import LarderSystem

/// An `errno` value, one of LMDB's codes, or one of this layer's own codes.
package typealias LMDBError = SystemError

extension SystemError: CustomStringConvertible {
  package static let mapFull = LMDBError(code: MDB_MAP_FULL)
  package static let mapResized = LMDBError(code: MDB_MAP_RESIZED)
  package static let readersFull = LMDBError(code: MDB_READERS_FULL)
  package static let panic = LMDBError(code: MDB_PANIC)
  package static let corrupted = LMDBError(code: MDB_CORRUPTED)
  package static let pageNotFound = LMDBError(code: MDB_PAGE_NOTFOUND)
  static let versionMismatch = LMDBError(code: MDB_VERSION_MISMATCH)

  // LMDB's own codes are -30799...-30780. The codes below are Larder's codes.
  package static let closed = LMDBError(code: -31_001)
  package static let forked = LMDBError(code: -31_002)
  package static let lockMismatch = LMDBError(code: -31_004)
  package static let mapHeld = LMDBError(code: -31_006)
  package static let occupied = LMDBError(code: -31_007)
  package static let stopped = LMDBError(code: -31_008)
  package static let insideWrite = LMDBError(code: -31_009)
  package static let syncFailed = LMDBError(code: -31_020)
  /// The page is damaged. Nothing was read from the page or written to the page.
  package static let damagedPage = LMDBError(code: -31_010)
  /// Another thread has kept this process's writer lock for the lock timeout. Perhaps that thread waits for the calling thread.
  package static let writerKept = LMDBError(code: -31_011)

  // Errors of waits that took longer than the lock timeout, because another process holds a lock file.
  package static let openingBusy = LMDBError(code: -31_021)
  package static let readersBusy = LMDBError(code: -31_022)
  package static let checkpointBusy = LMDBError(code: -31_023)
  package static let mapsBusy = LMDBError(code: -31_024)
  package static let bufferBusy = LMDBError(code: -31_025)

  package var description: String {
    switch self {
    case .closed: "the store is closed"
    case .forked: "the store was opened before this process was forked"
    case .writerKept: "another thread of this process keeps the writer lock"
    case .lockMismatch: "the lock file does not match the data file"
    case .replaced: "the store's files were replaced or deleted while it was open"
    case .mapHeld:
      "the store's size or limit changed, and a read in this process prevents remapping"
    case .occupied: "another process has the store open"
    case .stopped: "the copy was stopped"
    case .insideWrite: "a write inside a write on the same thread"
    case .readersFull: "all \(ReaderTable.size) places for readers are in use"
    case .damagedPage: "a page of the data file is damaged"
    case .syncFailed: "the disk did not take what was written since the last checkpoint"
    case .panic: "a sync or the end of a commit failed, and the store must be opened again"
    case .mapFull: "the data file has no room for the change"
    case .corrupted, .pageNotFound: "the data file is damaged"
    case .versionMismatch: "lock.mdb is of another version of LMDB"
    case .noBootIdentity: "the system does not tell its boot in /proc/sys/kernel/random/boot_id"
    default:
      busyLock.map { "another process holds \($0.name), the lock of \($0.purpose)" } ?? systemWords
    }
  }

  package var recoverySuggestion: String {
    switch self {
    case .closed: "open it again"
    case .forked: "open the store in the child process itself"
    case _ where isBusy: "wait for that process or end it, or allow a longer lock timeout"
    case .writerKept:
      "do not wait inside `write` for another thread or task that writes to the same store; or allow a longer lock timeout"
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
    case .diskFull, .quotaReached: "free space or raise the quota of the disk, then try again"
    case .fileTooLarge: "allow the process larger files (ulimit -f), then try again"
    case .inputOutput: "check the disk and the system log; the last finished write is intact"
    case .panic:
      "close the store and open it again; if that fails too, check the disk and the system log"
    case .versionMismatch: "let all programs that use the store have the same version of LMDB"
    case .noBootIdentity: "let the process read that file (in a unit of systemd: ProcSubset=all)"
    case .syncFailed: Self.syncFailedSuggestion
    case .damagedPage:
      "copy everything readable into a new store: larder STORE salvage NEW; until then it can only be read"
    case .corrupted, .pageNotFound: "copy what is readable with salvage, or restore a backup"
    case LMDBError(code: ENOMEM):
      "allow the process more memory or address space (ulimit -v): the store is mapped into memory"
    case LMDBError(code: EMFILE), LMDBError(code: ENFILE):
      "allow more open files (ulimit -n): a store needs 14, beside those of the program; 64 are enough for most"
    case LMDBError(code: EACCES), LMDBError(code: EPERM):
      "check who owns the store's directory and files"
    case LMDBError(code: EISDIR): "a directory is in the place of a file of the store: move it away"
    case LMDBError(code: EROFS):
      "read it with `readOnly` (larder --read-only), or copy it to a disk that can be written"
    default: "see the message; the last finished write is intact"
    }
  }

  var busyLock: (name: String, purpose: String)? {
    switch self {
    case .busy: ("lock.write", "writers")
    case .openingBusy: ("lock.opening", "opening and closing")
    case .readersBusy: ("lock.readers", "the reader table")
    case .checkpointBusy: ("lock.checkpoint", "checkpoints")
    case .mapsBusy: ("lock.maps", "files that processes share")
    case .bufferBusy: ("buffer", "the write buffer")
    default: nil
    }
  }

  package var isBusy: Bool { busyLock != nil }

  package var isFull: Bool { [.mapFull, .diskFull, .quotaReached, .fileTooLarge].contains(self) }

  /// The text of the system or of LMDB. The name of LMDB's error code, which is at the beginning of LMDB's text, is removed.
  var systemWords: String {
    let words = unsafe String(cString: mdb_strerror(code))
    guard words.hasPrefix("MDB_"), let name = words.firstIndex(of: " ") else { return words }
    return String(words[words.index(after: name)...])
  }

  static let syncFailedSuggestion =
    "check the disk and the system log, close the store in every process, then open it again: it returns to its last checkpoint, and at the level scratch it is emptied"

  /// LMDB reports an I/O error for each incomplete write. This call finds out if the disk is full or the file is too large.
  func explained(writing file: String) -> LMDBError {
    guard self == .inputOutput else { return self }
    if let status = FileStatus.of(file), status.st_size >= larder_file_size_limit() {
      return .fileTooLarge
    }
    return FileStatus.freeSpace(at: file).map { $0 < 4 << 20 } ?? false ? .diskFull : self
  }
}

package struct OpenError: Error, CustomStringConvertible {
  package enum Kind: Sendable {
    case absent, absentParent, danglingLink, invalidPath, notADirectory, notAFile, linked
    case foreignOwner, exposed, networkFileSystem
    case exists, inTheWay, notEmpty, notLMDB, otherLMDB, foreign, damaged, lacksDatabase, truncated
    case needsRecovery, unsynced, otherRecovery, otherDurability
    case busy, inUse, sameProcessID, locksLost, replaced, stillClosing
    case notCreated, unwritable, system
  }

  package let kind: Kind
  package let path: String
  package let detail: String
  package let cause: LMDBError?

  init(_ kind: Kind, path: String, detail: String = "", cause: LMDBError? = nil) {
    self.kind = kind
    self.path = path
    self.detail = detail
    self.cause = cause
  }

  /// Runs `body`. If `body` throws, throws an error for the file or directory at `path`, with the error of `body` as the cause.
  /// If `body` waits for a lock, `path` must be the directory of that lock.
  static func wrapping<Result: ~Copyable>(
    path: String, _ body: () throws(LMDBError) -> Result
  ) throws(OpenError) -> Result {
    do throws(LMDBError) { return try body() } catch { throw OpenError(error, in: path) }
  }

  init(_ cause: LMDBError, in directory: String) {
    self.init(
      cause.isBusy || cause == .occupied ? .busy : .system, path: directory,
      detail: StoreLocks.holders(of: cause, in: directory), cause: cause)
  }

  package var description: String {
    let because = cause.map { ": \($0.description)" } ?? ""
    let details = detail.isEmpty ? "" : " (\(detail))"
    return switch kind {
    case .absent: "there is no store at \(path)\(details)"
    case .absentParent: "the directory that should hold \(path) does not exist"
    case .danglingLink: "\(path) is a link to \(detail), which does not exist"
    case .invalidPath: "the path \(path) is not valid UTF-8, or has a zero byte"
    case .notADirectory: "\(path) is a file; a store is a directory"
    case .notAFile: "\(path) is not a regular file"
    case .linked: "\(path) has more than one name (hard links)"
    case .foreignOwner: "\(path) belongs to another user"
    case .exposed: "other users can change or read \(path)"
    case .networkFileSystem:
      "\(path) is on a network file system, where locks and maps are not reliable"
    case .exists: "\(path) exists already\(details)"
    case .inTheWay:
      "\(path) is in the way: a new store is made there before it gets its name, and there is \(detail)"
    case .notEmpty: "\(path) holds other files and no store"
    case .notLMDB: "\(path) is not an LMDB file: \(detail)"
    case .otherLMDB: "\(path) was made by LMDB 1.x, and Larder reads files of LMDB 0.9"
    case .foreign: "\(path) is an LMDB file that Larder did not write"
    case .damaged, .lacksDatabase: "\(path) is damaged: \(detail)"
    case .truncated: "\(path) is truncated: \(detail)"
    case .needsRecovery: "\(path) was not closed before the machine stopped; it needs recovery"
    case .unsynced:
      "the disk did not take what was written to \(path) since the last checkpoint\(because), and it is still open\(details)"
    case .otherRecovery:
      "\(path) does not belong to the data.mdb beside it, which is of another store"
    case .otherDurability: "\(path) has another durability: \(detail)"
    case .busy where cause != nil: "\(path)\(because)\(details)"
    case .busy: "\(path): \(detail.isEmpty ? "another thread opens or closes the store" : detail)"
    case .inUse: "\(path) is open in another process\(details), and this process may only read it"
    case .sameProcessID:
      "\(path) is open in a process of another container that has the same process id, \(detail)"
    case .locksLost: "a process that has \(path) open has lost its locks\(details)"
    case .replaced: "\(path) was replaced while this process has the former store there open"
    case .stillClosing: "\(path) was closed in this process, but a read of it continues"
    case .notCreated: "a store cannot be created at \(path)\(because)"
    case .unwritable, .system: "\(path) cannot be opened\(because)\(details)"
    }
  }

  package var recoverySuggestion: String {
    switch kind {
    case .absent: "check the path, or allow the store to be created"
    case .absentParent: "create that directory first"
    case .danglingLink: "create that directory, or remove the link"
    case .invalidPath: "rename the directory so that its whole path is valid UTF-8"
    case .notADirectory: "name the directory that holds data.mdb"
    case .notAFile, .linked:
      "replace it by a regular file with one name; with a link two processes miss each other's locks"
    case .foreignOwner:
      "open it as that user, chown -R the store, or read it with `allowsForeignOwner` (larder --allow-foreign-owner)"
    case .exposed: "chmod -R go-rwx \(detail.shellWord)"
    case .networkFileSystem: "put the store on a local disk"
    case .exists: "name a path that does not exist"
    case .inTheWay: "move it away, or remove it if nobody needs it"
    case .notEmpty: "name a new or an empty directory"
    case .otherLMDB:
      "name a directory that holds a Larder store; if this was one, move it away: a cache fills again"
    case .notLMDB, .foreign: "name a directory that holds a Larder store, or a new one"
    case .damaged, .lacksDatabase, .truncated:
      "copy everything readable into a new store: larder STORE salvage NEW; or move it away: a cache fills again"
    case .needsRecovery:
      "open it once with permission to write; from read-only media, copy it to a disk first"
    case .unsynced: LMDBError.syncFailedSuggestion
    case .otherRecovery:
      "put back the file recovery that belongs to data.mdb; without it, copy everything readable into a new store: larder STORE salvage NEW"
    case .otherDurability:
      "open it without a durability or with its own; to change it, close it in every process"
    case .busy: "try again, or check whether that process is stopped"
    case .inUse: "close it in that process, or read it as a user with permission to write"
    case .sameProcessID:
      "close it there first, or let the containers share their process ids, or start one program under another id"
    case .locksLost:
      "close the store in every process, then open it again; a program opened and closed lock.mdb, or deleted a lock file"
    case .replaced: "close the store that this process opened there, then open it again"
    case .stillClosing: "end that read, then open it again"
    case .unwritable where cause?.code == EACCES:
      "read it with `readOnly` (larder -r), or check who owns the store's directory and files"
    case .notCreated, .unwritable, .system: cause?.recoverySuggestion ?? "see the message"
    }
  }
}

package struct PageDamage: Error, Hashable, Sendable, CustomStringConvertible {
  package let page: UInt64
  package let reason: String

  package var description: String { "page \(page): \(reason)" }

  static func usedTwice(_ page: UInt64) -> Self { Self(page: page, reason: "it is in use twice") }

  static func usedAndFree(_ page: UInt64) -> Self {
    Self(page: page, reason: "it is in use and on a list of free pages")
  }
}
