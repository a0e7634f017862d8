import Foundation

/// One way to keep entries, and how it is opened here.
struct PeerKind: Sendable {
  /// What it is called on the command line.
  let id: String
  let name: String
  /// How it is used.
  let usage: String
  /// What each level it has means.
  let promise: [Level: String]
  /// The level at which its reads are measured.
  var readLevel = Level.unsynced
  /// The level at which writes are measured that wait for no disk; nil if it takes part in reading alone.
  var writeLevel: Level? {
    readsOnly ? nil : promise[.unsynced] != nil ? .unsynced : .memory
  }
  /// Takes part in reading alone: it differs from another only there.
  var readsOnly = false
  /// Whether a transaction can hold many writes.
  var hasBatches = true
  /// Whether it loads fastest when the keys come in order, and many at once.
  var loadsSorted = false
  /// Whether it goes on writing after a write has returned.
  var worksInBackground = false
  /// More entries than these would take too long.
  var largestCount = Int.max
  /// Whether a second process can use the store at the same time.
  var isShared = true
  /// Why it cannot be measured here, or nil.
  var missing: @Sendable () -> String? = { nil }
  var open: @Sendable (Site) throws -> any Peer

  /// The one that ratios refer to.
  static let reference = "lmdb"
}

/// Where a peer's store lies, and for what.
struct Site: Sendable {
  var directory: String
  var level: Level
  var data: Dataset
  /// Another process has it open already.
  var isAttached = false

  /// Bytes it takes on the disk.
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
