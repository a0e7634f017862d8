import Larder
import LarderSystem
import Synchronization

/// The records of a store about the tier, in a namespace of their own. A record and the change that it describes are in one
/// commit. So after a crash or a power failure, the store has no copy whose removal is recorded.
struct LocalState: Sendable {
  static let namespace = Store.tierState
  private static let progressKey = Store.tierProgress
  private static let queuedKey = "queued"
  private static let namePrefix = Store.tierNote

  /// The part of the log that was applied.
  struct Progress: Equatable, Sendable {
    private static let layout: UInt8 = 1

    var application: String
    /// The number of the history. The store takes a new number when it begins with another history of the log.
    var epoch: UInt64
    var position: Position
    /// The digest of the record at the position, which identifies the history.
    var digest: UInt64

    var bytes: [UInt8] {
      var bytes = [Self.layout]
      bytes.append(bigEndian: epoch)
      bytes += position.bytes
      bytes.append(bigEndian: digest)
      return bytes + Array(application.utf8)
    }
  }

  private let records: Store.Namespace

  init(_ store: Store) { records = store.namespace(Self.namespace) }

  // MARK: Progress

  /// The progress; nil before the first contact with the log, and if the record cannot be read.
  func progress() throws(LarderError) -> Progress? {
    try records.uncountedValue(for: Self.progressKey).flatMap { Progress(bytes: $0) }
  }

  func progress(in batch: inout WriteBatch) throws -> Progress? {
    try batch.value(for: Self.progressKey, in: records).flatMap { Progress(bytes: $0) }
  }

  func set(_ progress: Progress, in batch: inout WriteBatch) throws {
    try put(progress.bytes, for: Self.progressKey, in: &batch)
  }

  // MARK: Removals that wait

  /// A number that rises with each queued removal, and with each key that this machine drops.
  func queued() throws(LarderError) -> UInt64 {
    Self.number(try records.uncountedValue(for: Self.queuedKey))
  }

  func queued(in batch: inout WriteBatch) throws -> UInt64 {
    Self.number(try batch.value(for: Self.queuedKey, in: records))
  }

  func setQueued(_ count: UInt64, in batch: inout WriteBatch) throws {
    try put([UInt8](count: 8) { $0.append(bigEndian: count) }, for: Self.queuedKey, in: &batch)
  }

  private static func number(_ bytes: [UInt8]?) -> UInt64 {
    guard let bytes, bytes.count == 8 else { return 0 }
    return UInt64(bigEndianBytes: bytes)
  }

  // MARK: Namespaces

  /// Notes that a namespace has copies of the tier. In other namespaces, the log removes only entries with an invalidated tag. So
  /// the entries from before the note may be outdated, and a new note clears the namespace.
  func note(_ namespace: String, in batch: inout WriteBatch) throws {
    let key = Self.namePrefix + namespace
    guard try batch.value(for: key, in: records) == nil else { return }
    let entries = records.store.namespace(namespace)
    if try batch.hasEntries(in: entries) { _ = try batch.clear(entries) }
    try put([], for: key, in: &batch)
  }

  /// Whether the log removes the changed entries of a namespace. A damaged note does not count: the next copy makes a new note.
  func hasNote(of namespace: String) throws(LarderError) -> Bool {
    try records.uncountedValue(for: Self.namePrefix + namespace) != nil
  }

  // A damaged record also counts, because changes in the log would otherwise leave old copies in its namespace.

  func isNoted(_ namespace: String) throws(LarderError) -> Bool {
    let key = Array((Self.namePrefix + namespace).utf8)
    return try !records.lastKeys(prefix: key, before: key + [0], atMost: 1).isEmpty
  }

  func namespaces() throws(LarderError) -> [String] {
    let prefix = Array(Self.namePrefix.utf8)
    let keys = try records.lastKeys(prefix: prefix, before: nil, atMost: .max).reversed()
    return keys.compactMap { String(validating: $0.dropFirst(prefix.count), as: UTF8.self) }
  }

  /// Stores a record that is never evicted. If the progress is lost nevertheless, the store begins with a new history.
  func put(
    _ bytes: [UInt8], for key: some StoreKey, of namespace: Store.Namespace? = nil,
    in batch: inout WriteBatch
  ) throws {
    var attributes = EntryAttributes(expires: .never)
    attributes.isPinned = true
    try batch.set(bytes, for: key, in: namespace ?? records, attributes)
  }
}

/// Whether a cache knows that its namespace has a note. The cache looks for the note until the cache has found the note.
final class NotedNamespace: Sendable { let isKnown = Atomic(false) }

extension LocalState.Progress {
  init?(bytes: [UInt8]) {
    var reader = ByteReader(bytes[...])
    guard reader.bytes(1)?.first == Self.layout, let epoch = reader.bytes(8),
      let position = reader.bytes(16).flatMap({ Position(bytes: $0) }),
      let digest = reader.bytes(8), let application = String(validating: reader.rest, as: UTF8.self)
    else { return nil }
    self.init(
      application: application, epoch: UInt64(bigEndianBytes: epoch), position: position,
      digest: UInt64(bigEndianBytes: digest))
  }
}
