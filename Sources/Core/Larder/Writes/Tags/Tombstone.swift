import LMDB
import LarderSystem
import Synchronization

/// Tags that were invalidated and whose entries are still stored. Reads do not find an entry that has all of the tags. The
/// tombstone is a metadata record with its own number. The record has a checksum, the tags with a 0 between two tags, and each
/// namespace's next version at the invalidation. Lower versions are hidden. Later values may have the tags again.
struct Tombstone: Equatable, Sendable {
  /// The tags. An empty list means every tag: this tombstone has replaced a damaged tombstone.
  var tags: [[UInt8]]
  /// The namespaces, each with the first version that the tombstone does not hide.
  var horizon: [NamespaceID: UInt64]
  /// The last index record of the first tag that the removal has handled. The removal continues after this record.
  var reached: [UInt8] = []
  private(set) var isDamaged = false

  static let damaged = Tombstone(tags: [], horizon: [:], isDamaged: true)
}

extension Tombstone {
  /// Nil if the record under `key` is damaged.
  init?(_ record: Span<UInt8>, at key: Span<UInt8>, seal: RecordSeal) {
    guard let bytes = seal.open(record, seed: seal.seed(for: key)), bytes.count >= 8
    else { return nil }
    let start = 8 + Int(bytes.halfWord(at: 0))
    let count = Int(bytes.halfWord(at: 4))
    guard start + 12 * count <= bytes.count else { return nil }
    tags = bytes.extracting(8..<start).copied.split(separator: 0).map(Array.init)
    horizon = [:]
    for index in 0..<count {
      let offset = start + 12 * index
      horizon[NamespaceID(rawValue: bytes.halfWord(at: offset))] = bytes.word(at: offset + 4)
    }
    reached = bytes.extracting(start + 12 * count..<bytes.count).copied
  }

  static func all(
    in view: borrowing some DatabaseView & ~Copyable, _ seal: RecordSeal
  ) throws(LMDBError) -> [Tombstone] {
    var found: [Tombstone] = []
    try view.forEach(in: .main, from: MetadataKey.tombstones) { key, record throws(LMDBError) in
      found.append(Tombstone(record, at: key, seal: seal) ?? .damaged)
    }
    return found
  }

  func record(at key: [UInt8], seal: RecordSeal) -> [UInt8] {
    var content: [UInt8] = []
    let tag = Array(tags.joined(separator: [0]))
    content.append(littleEndian: UInt32(tag.count))
    content.append(littleEndian: UInt32(horizon.count))
    content += tag
    for (id, next) in horizon.sorted(by: { $0.key < $1.key }) {
      content.append(littleEndian: id.rawValue)
      content.append(word: next)
    }
    content += reached
    return seal.seal(content, for: key)
  }

  /// Whether the tombstone hides the entry with this version and these tags. A damaged tombstone hides every entry with a tag.
  func hides(_ id: NamespaceID, version: UInt64, tags: [[UInt8]]) -> Bool {
    if isDamaged { return true }
    guard let next = horizon[id], version < next else { return false }
    return self.tags.allSatisfy(tags.contains)
  }
}

/// The tombstones of the store, as a cache in this process. A read of a commit without tombstones only compares two numbers.
final class KnownTombstones: Sendable {
  /// The number of a commit without tombstones; 0 if no such commit is known.
  private let quiet = Atomic<UInt64>(0)
  private let listed = Mutex<(generation: UInt64, tombstones: [Tombstone])?>(nil)

  func all(
    in transaction: borrowing ReadTransaction, _ seal: RecordSeal
  ) throws(LMDBError) -> [Tombstone] {
    let id = transaction.id
    if id != 0, quiet.load(ordering: .relaxed) == id { return [] }
    // The state of the store is damaged. So the records of the tombstones are read, and the result is not cached.
    guard let state = try transaction.state(seal)
    else { return try Tombstone.all(in: transaction, seal) }
    if state.tombstones == 0 {
      quiet.store(id, ordering: .relaxed)
      return []
    }
    let generation = state.generation
    if let known = listed.withLock({ $0?.generation == generation ? $0?.tombstones : nil }) {
      return known
    }
    var tombstones = try Tombstone.all(in: transaction, seal)
    if tombstones.count < state.tombstones { tombstones.append(.damaged) }
    listed.withLock { $0 = (generation, tombstones) }
    return tombstones
  }
}

extension EntryReader {
  /// Whether a tag of the entry was invalidated after its write. If a tombstone is damaged, true for every tagged entry.
  @inline(never)
  func isHidden(
    _ header: EntryHeader, id: NamespaceID, record: Span<UInt8>,
    in transaction: borrowing ReadTransaction
  ) throws(LarderError) -> Bool {
    guard header.flags.contains(.tagged) else { return false }
    do throws(LMDBError) {
      let tombstones = try self.tombstones.all(in: transaction, seal)
      guard !tombstones.isEmpty, let tags = EntryFields(record.extracting(header.fieldsRange))?.tags
      else { return false }
      return tombstones.contains { $0.hides(id, version: header.version, tags: tags) }
    } catch { throw environment.larderError(error) }
  }
}
