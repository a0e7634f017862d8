import Foundation

/// A kind of store, and how the benchmark opens it.
struct PeerKind: Sendable {
  /// The name in the options of the program.
  let id: String
  let name: String
  /// The way in which the benchmark uses the store.
  let usage: String
  /// The failures that a write survives, for each level of the peer.
  let promise: [Level: String]
  /// The level at which reads of this peer are measured.
  var readLevel = Level.unsynced
  /// The level of writes that do not wait for the disk; nil for a peer that only reads.
  var writeLevel: Level? {
    readsOnly ? nil : promise[.unsynced] != nil ? .unsynced : .memory
  }
  /// Whether only reads are measured, because the writes are the same as the writes of another peer.
  var readsOnly = false
  /// Whether a transaction can hold many writes.
  var hasBatches = true
  /// Whether loading is fastest with sorted keys and large batches.
  var loadsSorted = false
  /// Whether the peer continues to write in the background after a write has returned.
  var worksInBackground = false
  /// The largest number of entries. With more entries, the peer would take too long.
  var largestCount = Int.max
  /// Whether a second process can use the store at the same time.
  var isShared = true
  /// The reason why the peer cannot be measured on this machine; nil if the peer can be measured.
  var missing: @Sendable () -> String? = { nil }
  var open: @Sendable (Site) throws -> any Peer

  /// The id of the peer with which the times of all peers are compared.
  static let reference = "lmdb"
}

/// The directory of the store of a peer, with the level and the data.
struct Site: Sendable {
  var directory: String
  var level: Level
  var data: Dataset
  /// Whether another process already has the store open.
  var isAttached = false

  /// The number of bytes that the store takes on the disk.
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
