import CLMDB
import LarderSystem

/// The promise of an environment about a power failure. The environment stores the level. A killed process loses no commit at
/// any level.
package enum DurabilityLevel: UInt8, Sendable, CaseIterable {
  /// Every commit that returned survives.
  case durable = 0
  /// The commits up to the last checkpoint survive. The next checkpoint is due a fixed interval after the first later commit.
  case checkpointed = 1
  /// The state at the last close or sync survives if nothing was written since; otherwise nothing survives.
  case scratch = 2
  /// Nothing survives, and damage is not detected: for environments that no other process uses later.
  case temporary = 3

  package static let standard = DurabilityLevel.checkpointed

  /// The key of the level's record in the main database. A namespace never has the id 0.
  static let record: [UInt8] = [0, 0, 0, 0, UInt8(ascii: "D")]

  /// Whether the environment has the file `recovery`, which says how far its commits are on the disk.
  var hasRecoveryFile: Bool { self == .checkpointed || self == .scratch }

  /// The level of the environment in `file`; durable, the strongest level, if the record of the level is lost.
  package init(of file: borrowing SalvageFile) throws {
    var level = DurabilityLevel.durable
    _ = try file.forEachRecord { key, value in
      guard key.elementsEqual(Self.record.span), value.count == 1 else { return }
      level = DurabilityLevel(rawValue: value[0]) ?? level
    }
    self = level
  }

  /// LMDB's flags. At all levels but durable, this layer syncs instead of LMDB.
  var flags: UInt32 { self == .durable ? 0 : UInt32(MDB_NOSYNC) }

  /// The level of an environment; durable if it has no record.
  static func read(from handle: OpaquePointer) throws(LMDBError) -> DurabilityLevel {
    let transaction = try unsafe beginTransaction(in: handle, UInt32(MDB_RDONLY))
    defer { unsafe mdb_txn_abort(transaction) }
    var main: MDB_dbi = 0
    try check(unsafe mdb_dbi_open(transaction, nil, 0, &main))
    guard let value = try unsafe lookUp(record.span, in: .main, of: transaction) else {
      return .durable
    }
    let bytes = unsafe Span<UInt8>(value)
    guard bytes.count == 1, let level = DurabilityLevel(rawValue: bytes[0]) else {
      throw LMDBError(code: MDB_INVALID)
    }
    return level
  }
}
