import CLMDB
import LarderSystem

/// Which commits survive a power failure. The environment stores its level. If only a process is killed, no commit is lost.
package enum DurabilityLevel: UInt8, Sendable, CaseIterable {
  /// Each commit survives as soon as its call has returned.
  case durable = 0
  /// All commits up to the last checkpoint survive. The next checkpoint is made a fixed interval after the first later commit.
  case checkpointed = 1
  /// If nothing was written after the last close or sync, the state at that close or sync survives. Otherwise nothing survives.
  case scratch = 2
  /// Nothing survives, and damage by a power failure is not detected. For environments that no process opens later.
  case temporary = 3

  package static let standard = DurabilityLevel.checkpointed

  /// The key of the level's record in the main database. No namespace uses this key, because no namespace has the id 0.
  static let record: [UInt8] = [0, 0, 0, 0, UInt8(ascii: "D")]

  /// Whether the environment has the file `recovery`, which says which commits are on the disk.
  var hasRecoveryFile: Bool { self == .checkpointed || self == .scratch }

  /// The level of the environment in `file`. If the record of the level is lost, the result is the strongest level, durable.
  package init(of file: borrowing SalvageFile) throws {
    var level = DurabilityLevel.durable
    _ = try file.forEachRecord { key, value in
      guard key.elementsEqual(Self.record.span), value.count == 1 else { return }
      level = DurabilityLevel(rawValue: value[0]) ?? level
    }
    self = level
  }

  /// LMDB's flags. At every level except durable, this layer syncs the file, and LMDB does not.
  var flags: UInt32 { self == .durable ? 0 : UInt32(MDB_NOSYNC) }
}

extension WriteTransaction {
  mutating func put(_ level: DurabilityLevel) throws(LMDBError) {
    let (key, value) = (DurabilityLevel.record, [level.rawValue])
    try put(value.span, for: key.span, in: .main)
  }
}
