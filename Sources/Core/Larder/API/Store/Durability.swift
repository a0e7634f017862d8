import LMDB

/// The promise about a power failure.
///
/// At every level, a killed process loses no write that returned, a batch is stored completely or not at all, and the store
/// stays readable. The creation of a store chooses the level for every process, until ``Store/change(durability:ofStoreAt:)``.
/// `Docs/Operate/Reliability.md` describes how each promise is kept and tested.
public enum Durability: String, Sendable, Hashable, CaseIterable, Codable {
  /// A power failure loses nothing: a write returns only when it is on the disk.
  case durable
  /// A power failure loses at most the writes of the last ``Store/Options/checkpointInterval`` and of the duration of one sync.
  case checkpointed
  /// A power failure empties the store, including its rules. The store stays whole if nothing was written since `sync()`
  /// returned or since all processes closed the store.
  case scratch

  var level: DurabilityLevel {
    switch self {
    case .durable: .durable
    case .checkpointed: .checkpointed
    case .scratch: .scratch
    }
  }

  init(_ level: DurabilityLevel) {
    self =
      switch level {
      case .durable: .durable
      case .checkpointed: .checkpointed
      case .scratch, .temporary: .scratch
      }
  }
}

extension Store {
  /// Changes the durability of the store at `path`.
  ///
  /// - Throws: ``LarderError/Code/busy`` if a process has the store open, ``LarderError/Code/notFound`` if no store is there.
  public static func change(
    durability: Durability, ofStoreAt path: String
  ) throws(LarderError) {
    var options = Options()
    options.create = false
    options.durability = durability
    options.changesDurability = true
    try WriteBuffer.commit(at: path, options)
    try Store(at: path, options: options).close()
  }
}
