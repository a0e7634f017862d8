import LMDB
import LarderSystem
import Synchronization

/// What this process knows of the store's tombstones.
///
/// Only reads of entries that carry tags ask, and as long as there are none that costs a load for each: the commit at which
/// there were none is remembered.
final class KnownTombstones: Sendable {
  /// A commit without tombstones; 0 is none.
  private let quiet = Atomic<UInt64>(0)
  private let listed = Mutex<(generation: UInt64, tombstones: [Tombstone])?>(nil)

  /// The tombstones of a snapshot.
  func all(in transaction: borrowing ReadTransaction) throws(LMDBError) -> [Tombstone] {
    let id = transaction.id
    if id != 0, quiet.load(ordering: .relaxed) == id { return [] }
    let state = try transaction.state()
    if state.tombstones == 0 {
      quiet.store(id, ordering: .relaxed)
      return []
    }
    if let known = listed.withLock({ $0?.generation == state.generation ? $0?.tombstones : nil }) {
      return known
    }
    var tombstones: [Tombstone] = []
    let prefix = MetadataKey.tombstones
    var cursor = try transaction.cursor(in: .main)
    var record = try cursor.seek(prefix.span)
    while let found = record, found.key.starts(with: prefix.span) {
      if let tombstone = Tombstone(found.value) { tombstones.append(tombstone) }
      record = try cursor.next()
    }
    listed.withLock { $0 = (state.generation, tombstones) }
    return tombstones
  }
}

extension StoreEngine {
  /// Whether an entry carries a tag that was invalidated after the entry was written.
  @inline(never)
  func isHidden(
    _ header: EntryHeader, id: NamespaceID, record: Span<UInt8>,
    in transaction: borrowing ReadTransaction
  ) throws(LarderError) -> Bool {
    guard header.flags.contains(.tagged) else { return false }
    do throws(LMDBError) {
      let tombstones = try self.tombstones.all(in: transaction)
      if tombstones.isEmpty { return false }
      guard
        let tags = EntryFields(record.extracting(EntryHeader.size..<header.payloadStart))?.tags
      else { return false }
      return tombstones.contains { $0.hides(id, version: header.version, tags: tags) }
    } catch {
      throw self.error(error)
    }
  }
}
