import CLMDB
import LarderSystem

/// Which commits of an environment survive a power failure. The level is stored in the environment. A killed process loses
/// no commit at any level.
package enum DurabilityLevel: UInt8, Sendable, CaseIterable {
  /// Every commit that returned.
  case durable = 0
  /// The commits up to the last checkpoint, which follows the first commit after the previous one by a fixed interval.
  case checkpointed = 1
  /// The state at the last close or sync if nothing was written since; otherwise nothing.
  case scratch = 2
  /// Nothing, and damage is not detected: for environments that no other process uses later.
  case temporary = 3

  /// The level of a new environment when none is requested.
  package static let standard = DurabilityLevel.checkpointed

  /// The key of the level's record in the main database. A namespace never has the id 0.
  static let record: [UInt8] = [0, 0, 0, 0, UInt8(ascii: "D")]

  /// Whether the file `recovery` records what the running system has done to the environment.
  var hasRecoveryFile: Bool { self == .checkpointed || self == .scratch }

  /// LMDB's flags: at all levels but durable, this layer syncs instead of LMDB.
  var flags: UInt32 { self == .durable ? 0 : UInt32(MDB_NOSYNC) }

  /// The level of an environment; durable if it has no record.
  static func read(from handle: OpaquePointer, _ level: inout DurabilityLevel) -> Int32 {
    var transaction: OpaquePointer?
    let begun = unsafe mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
    if begun != 0 { return begun }
    defer { unsafe mdb_txn_abort(transaction) }
    var main: MDB_dbi = 0
    let opened = unsafe mdb_dbi_open(transaction, nil, 0, &main)
    if opened != 0 { return opened }
    let key = DurabilityLevel.record
    do throws(LMDBError) {
      guard let value = try unsafe lookUp(key.span, in: .main, of: transaction!) else { return 0 }
      let bytes = unsafe Span<UInt8>(value)
      guard bytes.count == 1, let known = DurabilityLevel(rawValue: bytes[0]) else {
        return MDB_INVALID
      }
      level = known
      return 0
    } catch {
      return error.code
    }
  }
}

/// Changes the durability level of an environment. The caller holds `lock.opening` and `lock.write` and is alone.
///
/// Everything is synced first, and the recovery file asks for nothing, so wherever this is interrupted neither level
/// finds anything to restore. The record in the data file decides.
struct LevelChange {
  let files: StoreFiles
  let options: EnvironmentOptions
  let level: DurabilityLevel

  func run() throws(OpenError) {
    do throws(LMDBError) {
      var created: OpaquePointer?
      try check(unsafe mdb_env_create(&created))
      let handle = unsafe created!
      defer { unsafe mdb_env_close(handle) }
      try unsafe Opening.configure(handle, files: files, options: options)
      try check(unsafe mdb_env_open(handle, files.data, UInt32(MDB_NOSUBDIR | MDB_NOLOCK), 0o600))
      var former = DurabilityLevel.durable
      try check(unsafe DurabilityLevel.read(from: handle, &former))
      if former == level { return }
      try unsafe syncFile(of: handle)
      if former.hasRecoveryFile || level.hasRecoveryFile {
        try resetRecoveryRecord(
          RecoveryRecord(level: level, boot: options.currentBoot, recoveryPoint: nil))
      }
      try unsafe record(level, in: handle)
      if former.hasRecoveryFile, !level.hasRecoveryFile {
        try FileStatus.remove(files.recovery)
        try FileStatus.syncDirectory(files.directory)
      }
    } catch {
      throw OpenError(.system, path: files.directory, cause: error)
    }
  }

  private func resetRecoveryRecord(_ record: RecoveryRecord) throws(LMDBError) {
    if FileStatus.of(files.recovery) != nil {
      return try RecoveryFile(opening: files.recovery).write(record)
    }
    try RecoveryFile.create(files.recovery, record)
    try FileStatus.syncDirectory(files.directory)
  }

  /// Writes the level's record in a transaction that is on the disk when this returns.
  private func record(_ level: DurabilityLevel, in handle: OpaquePointer) throws(LMDBError) {
    var begun: OpaquePointer?
    try check(unsafe mdb_txn_begin(handle, nil, 0, &begun))
    var transaction = unsafe WriteTransaction(handle: begun!, environment: nil)
    var main: MDB_dbi = 0
    try check(unsafe mdb_dbi_open(begun, nil, 0, &main))
    let (key, value) = (DurabilityLevel.record, [level.rawValue])
    try transaction.put(value.span, for: key.span, in: .main)
    try transaction.commit()
  }
}
