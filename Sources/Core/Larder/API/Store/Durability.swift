import LMDB

/// The promise of a store about its data after a power failure.
///
/// At every level, a killed process loses no write that returned, a batch is stored completely or not at all, and the store
/// stays readable. The level of a new store holds for every process, until ``Store/change(durability:ofStoreAt:)``.
/// `Docs/Operate/Reliability.md` describes how Larder keeps and tests each promise.
public enum Durability: String, Sendable, Hashable, CaseIterable, Codable {
  /// A power failure loses no write: a write returns only after its data are on the disk.
  case durable
  /// A power failure usually loses the writes of one ``Store/Options/checkpointInterval``. If no batch is long, the maximum is
  /// the writes of two intervals. A power failure also loses the writes during an unfinished sync.
  case checkpointed
  /// A power failure empties the store, including its rules. The store keeps everything if all processes had closed the store. If
  /// no commit came after the last `sync()`, the store lacks only writes of the last ``Store/Options/checkpointInterval``.
  case scratch

  var level: DurabilityLevel {
    switch self {
    case .durable: .durable
    case .checkpointed: .checkpointed
    case .scratch: .scratch
    }
  }

  init(_ level: DurabilityLevel) { self = Self.allCases.first { $0.level == level } ?? .scratch }
}
