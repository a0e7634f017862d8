import CLMDB
import CLarderSystem
import LarderSystem

extension Environment {
  /// The sizes of the map and the file, and the use of the reader table.
  package struct Info: Sendable {
    package var mapSize: Int
    package var pageSize: Int
    /// Pages ever used, which is about the length of the file.
    package var pages: Int
    package var lastTransaction: UInt64
    package var readerSlots: Int
    /// The highest number of slots used at the same time by all processes.
    package var readersUsed: Int
  }

  /// All zero after closing.
  package var info: Info {
    var info = unsafe MDB_envinfo()
    do throws(LMDBError) {
      try withMap { () throws(LMDBError) in try check(unsafe mdb_env_info(handle, &info)) }
    } catch {
      return Info(
        mapSize: 0, pageSize: 0, pages: 0, lastTransaction: 0, readerSlots: 0, readersUsed: 0)
    }
    return unsafe Info(
      mapSize: info.me_mapsize, pageSize: meta.pageSize, pages: meta.pages,
      lastTransaction: UInt64(truncatingIfNeeded: info.me_last_txnid),
      readerSlots: Int(info.me_maxreaders),
      readersUsed: Int(info.me_numreaders))
  }
}

extension Environment {
  /// The size of the data file in bytes.
  package var fileSize: Int { Self.fileSize(at: path) }

  /// The size of the data file in `directory`, whether open or not; 0 if the file does not exist.
  package static func fileSize(at directory: String) -> Int {
    FileStatus.of(directory + "/data.mdb").map { Int($0.st_size) } ?? 0
  }

  /// A change of an open environment's files by another program.
  package enum FileProblem: Sendable, Equatable {
    /// The directory, the data file, a lock file or the recovery file is not at its path any more.
    case missing
    /// Another file is at the path of the data file or lock.mdb.
    case replaced
    /// The directory or a file in it may not be written any more, for this reason.
    case unwritable(LMDBError)
  }

  /// Looks at the files' paths; nil if they are as they were when the environment was opened.
  package func fileProblem(needsWriting: Bool) -> FileProblem? {
    guard let data = FileStatus.of(files.data) else { return Self.unreachable(.last) }
    guard FileIdentity(data) == identity, data.st_nlink == 1 else { return .replaced }
    // A reader that may not write can have opened a store without lock.mdb.
    if lockIdentity != identity {
      guard let lock = FileStatus.of(files.lock) else { return Self.unreachable(.last) }
      guard FileIdentity(lock) == lockIdentity else { return .replaced }
    }
    if locks.areDisplaced(in: path) || checkpoints?.file.isAt(files.recovery) == false {
      return .missing
    }
    guard needsWriting else { return nil }
    for (path, mode) in [(files.directory, W_OK | X_OK), (files.data, W_OK), (files.lock, W_OK)]
    where unsafe larder_access(path, mode) != 0 {
      // The files may have been moved since they were looked at.
      return Self.unreachable(.last)
    }
    return nil
  }

  /// Why a path cannot be looked at or written.
  private static func unreachable(_ reason: LMDBError) -> FileProblem {
    [ENOENT, ENOTDIR].contains(reason.code) ? .missing : .unwritable(reason)
  }
}
