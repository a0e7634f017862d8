import Foundation

/// A kind of store, and how the benchmark opens it.
struct PeerKind: Sendable {
  /// The name on the command line.
  let id: String
  let name: String
  /// How the benchmark uses the store.
  let usage: String
  /// The promise at each of its levels.
  let promise: [Level: String]
  /// The level at which its reads are measured.
  var readLevel = Level.unsynced
  /// The level of writes that wait for no disk; nil for a peer that only reads.
  var writeLevel: Level? {
    readsOnly ? nil : promise[.unsynced] != nil ? .unsynced : .memory
  }
  /// Whether the peer only reads, because its writes equal the writes of another peer.
  var readsOnly = false
  /// Whether a transaction can hold many writes.
  var hasBatches = true
  /// Whether the peer loads fastest with sorted keys and large batches.
  var loadsSorted = false
  /// Whether the peer still writes after a write has returned.
  var worksInBackground = false
  /// The largest number of entries; more would take too long.
  var largestCount = Int.max
  /// Whether a second process can use the store at the same time.
  var isShared = true
  /// The reason why the peer cannot be measured here; nil if there is none.
  var missing: @Sendable () -> String? = { nil }
  var open: @Sendable (Site) throws -> any Peer

  /// The id of the peer whose times are the base of ratios.
  static let reference = "lmdb"
}

/// The place of a peer's store, with its level and data.
struct Site: Sendable {
  var directory: String
  var level: Level
  var data: Dataset
  /// Whether another process already has the store open.
  var isAttached = false

  /// The bytes of the store on the disk.
  var bytesOnDisk: Int {
    let files = FileManager.default.enumerator(
      at: URL(fileURLWithPath: directory), includingPropertiesForKeys: [])
    var blocks = 0
    while let file = files?.nextObject() as? URL {
      var status = stat()
      if lstat(file.path, &status) == 0 { blocks += Int(status.st_blocks) }
    }
    return blocks * 512
  }
}

extension PeerKind {
  static let all: [PeerKind] = [
    .larder, .larderUnbuffered, .lmdb, .lmdbIndexed, .lmdbChecked, .lmdbMapped,
    .mdbx, .rawSQLite, .bareSQLite, .sqlite, .sqliteTogether, .rocksDB, .levelDB, .tkrzw, .files,
    .redis, .diskcache, .dictionary,
  ]

  static func named(_ id: String) -> PeerKind? { all.first { $0.id == id } }
}
