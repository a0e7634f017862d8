import CLMDB
import CLarderSystem
import LarderSystem

extension Environment {
  /// How the map and the file stand.
  package struct Info: Sendable {
    package var mapSize: Int
    package var pageSize: Int
    /// Pages ever used; the file is about this long.
    package var pages: Int
    package var lastTransaction: UInt64
    package var readerSlots: Int
    /// The highest number of slots ever in use at once, by all processes together.
    package var readersUsed: Int
  }

  /// All zero once the environment is closed.
  package var info: Info {
    var info = unsafe MDB_envinfo()
    do throws(LMDBError) {
      try withMap { () throws(LMDBError) in try check(unsafe mdb_env_info(handle, &info)) }
    } catch {
      return Info(
        mapSize: 0, pageSize: 0, pages: 0, lastTransaction: 0, readerSlots: 0, readersUsed: 0)
    }
    return unsafe Info(
      mapSize: info.me_mapsize, pageSize: meta.pageSize, pages: info.me_last_pgno + 1,
      lastTransaction: UInt64(info.me_last_txnid), readerSlots: Int(info.me_maxreaders),
      readersUsed: Int(info.me_numreaders))
  }
}

extension Environment {
  /// Bytes of the data file.
  package var fileSize: Int { Self.fileSize(at: path) }

  /// The same of the environment in a directory, be it open or not; 0 if there is none.
  package static func fileSize(at directory: String) -> Int {
    FileStatus.of(directory + "/data.mdb").map { Int($0.st_size) } ?? 0
  }
}
