import LMDB

/// What survives the machine losing power. That a process is killed, at any moment, costs no finished write at any
/// level, and no level ever leaves part of a batch or a store that cannot be read.
///
/// It is chosen when a store is made, kept in it, and the same for every process. How each promise is kept and was
/// tried is told in `Docs/Durability.md`.
public enum Durability: String, Sendable, Hashable, CaseIterable, Codable {
  /// (a) A killed process loses nothing that was written. (b) Neither does a power cut: a write returns when the disk has
  /// it.
  case durable
  /// (a) A killed process loses nothing that was written. (b) A power cut takes the store back to a moment at most
  /// ``Store/Options/checkpointInterval``, and the time that a sync takes, before its last write.
  case checkpointed
  /// (a) A killed process loses nothing that was written. (b) A power cut may undo the last commit, never more:
  /// a write, a batch, or writes that shared it.
  case relaxed
  /// (a) A killed process loses nothing that was written. (b) A power cut empties the store, rules included, unless it
  /// was closed by all or synced and not written to since.
  case scratch
}

extension Store {
  /// Gives the store at `path` another durability. No process may have it open.
  public static func change(
    durability: Durability, ofStoreAt path: String
  ) throws(LarderError) {
    var options = Options()
    options.create = false
    options.durability = durability
    options.changesDurability = true
    try Store(at: path, options: options).close()
  }
}

extension Durability {
  var level: DurabilityLevel {
    switch self {
    case .durable: .durable
    case .checkpointed: .checkpointed
    case .relaxed: .relaxed
    case .scratch: .scratch
    }
  }

  init(_ level: DurabilityLevel) {
    self =
      switch level {
      case .durable: .durable
      case .checkpointed: .checkpointed
      case .relaxed: .relaxed
      case .scratch, .temporary: .scratch
      }
  }
}
