import CLMDB

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

  /// Who reads: a process, and the transaction its snapshot shows; nil for a slot kept without a snapshot.
  package struct Reader: Sendable, Equatable {
    package var process: Int
    package var transaction: UInt64?
  }

  package func readersNow() throws(LMDBError) -> [Reader] {
    @safe final class Lines { var text = "" }
    let lines = Lines()
    try withMap { () throws(LMDBError) in
      let result = unsafe clmdb_reader_list(
        handle,
        { text, context in
          let lines = unsafe Unmanaged<Lines>.fromOpaque(context!).takeUnretainedValue()
          if let text = unsafe text { unsafe lines.text += String(cString: text) }
          return 0
        }, Unmanaged.passUnretained(lines).toOpaque())
      if result < 0 { throw LMDBError(code: result) }
    }
    return lines.text.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard words.count == 3, let process = Int(words[0]) else { return nil }
      return Reader(process: process, transaction: UInt64(words[2]))
    }
  }
}

extension Environment {
  /// Bytes of the data file.
  package var fileSize: Int { StoreFiles.status(of: files.data).map { Int($0.st_size) } ?? 0 }
}
