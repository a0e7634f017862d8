import CLMDB

extension Environment {
  /// Makes a new data file under another name and moves it into place whole, so that a kill or a power cut leaves
  /// either no store or a complete one. Called with `lock.open` held and nobody present.
  static func create(
    _ files: StoreFiles, options: EnvironmentOptions,
    prepare: (inout WriteTransaction) throws(LMDBError) -> Void
  ) throws(OpenError) {
    do throws(LMDBError) {
      try build(files.newData, options: options, prepare: prepare)
      try checkErrno { unsafe rename(files.newData, files.data) }
      try StoreFiles.syncDirectory(files.directory)
      try StoreFiles.syncParent(of: files.directory)
    } catch {
      // The next to create it removes what cannot be removed now.
      unsafe unlink(files.newData)
      throw OpenError(.system, path: files.directory, cause: error)
    }
  }

  /// What a creation or a compaction left that was killed. Called with `lock.open` held and nobody present.
  static func removeUnfinished(_ files: StoreFiles) throws(OpenError) {
    if StoreFiles.status(of: files.newData) == nil { return }
    do throws(LMDBError) {
      try checkErrno { unsafe unlink(files.newData) }
    } catch {
      throw OpenError(.system, path: files.newData, cause: error)
    }
  }

  private static func build(
    _ path: String, options: EnvironmentOptions,
    prepare: (inout WriteTransaction) throws(LMDBError) -> Void
  ) throws(LMDBError) {
    var created: OpaquePointer?
    try check(unsafe mdb_env_create(&created))
    let handle = unsafe created!
    defer { unsafe mdb_env_close(handle) }
    try check(unsafe mdb_env_set_maxdbs(handle, UInt32(options.databases.count)))
    try check(unsafe mdb_env_set_mapsize(handle, 64 << 20))
    try check(unsafe mdb_env_open(handle, path, UInt32(MDB_NOSUBDIR | MDB_NOLOCK), 0o600))
    var databases: [Database] = []
    try check(unsafe openDatabases(handle, names: options.databases, create: true, &databases))
    try unsafe fill(handle, prepare: prepare)
    try check(unsafe mdb_env_sync(handle, 1))
  }

  private static func fill(
    _ handle: OpaquePointer, prepare: (inout WriteTransaction) throws(LMDBError) -> Void
  ) throws(LMDBError) {
    var begun: OpaquePointer?
    try check(unsafe mdb_txn_begin(handle, nil, 0, &begun))
    var transaction = unsafe WriteTransaction(handle: begun!, environment: nil)
    try prepare(&transaction)
    try transaction.commit()
  }
}
