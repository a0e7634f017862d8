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
}
