import CLMDB
import LarderSystem

/// What of an environment's commits survives a power cut; recorded in the environment. A killed process loses nothing
/// at any level.
package enum DurabilityLevel: UInt8, Sendable, CaseIterable {
  /// Every commit that returned.
  case durable = 0
  /// The commits up to a checkpoint that is made a moment after the first commit behind the one before.
  case checkpointed = 1
  /// Every commit that returned but perhaps the last.
  case relaxed = 2
  /// What was there when it was last closed or synced, if nothing was written since; otherwise nothing.
  case scratch = 3
  /// Nothing, and nobody finds out: for environments that do not outlive the process anyway.
  case temporary = 4

  /// Of a new environment when none is asked for.
  package static let standard = DurabilityLevel.checkpointed

  /// The key of the level's record in the main database. Namespace ids are never 0 there.
  static let record: [UInt8] = [0, 0, 0, 0, UInt8(ascii: "D")]

  /// Whether the file `boot` tells what the running system has done to the environment.
  var keepsBoot: Bool { self == .checkpointed || self == .scratch }

  /// What LMDB leaves to us.
  var flags: UInt32 {
    switch self {
    case .durable: 0
    case .relaxed: UInt32(MDB_NOMETASYNC)
    case .checkpointed, .scratch, .temporary: UInt32(MDB_NOSYNC)
    }
  }
}
