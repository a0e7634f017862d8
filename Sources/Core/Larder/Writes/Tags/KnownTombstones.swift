import LMDB
import LarderSystem
import Synchronization

/// The tombstones (invalidated tags) of the store, as a cache in this process. The cache remembers a commit without tombstones,
/// so that a read of that commit only compares two numbers.
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
    guard let state = try transaction.state(seal) else {
      return try Tombstone.all(in: transaction, seal)
    }
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
      if tombstones.isEmpty { return false }
      guard
        let tags = EntryFields(record.extracting(header.fieldsRange))?.tags
      else { return false }
      return tombstones.contains { $0.hides(id, version: header.version, tags: tags) }
    } catch {
      throw environment.larderError(error)
    }
  }
}
