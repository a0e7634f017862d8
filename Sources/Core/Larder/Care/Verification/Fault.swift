import LMDB
import LarderSystem

/// The faults that ``Store/verify()`` can find in a store, with the facts of each fault.
enum Fault: Hashable, Sendable, CustomStringConvertible {
  // Faults of an entry.
  case unreadableEntry
  case wrongChecksum
  case missingChunk
  case lateDeadline
  case missingDeadline
  case missingInQueue
  case missingTag([UInt8])
  case missingOwner(Key)
  case contradictedTags

  // Faults of a record, with its key. `dangling` means that an index record leads to no entry with the same facts.
  case damaged(NamespaceRepair.Part, at: [UInt8])
  case dangling(NamespaceRepair.Part, at: [UInt8])
  /// A record of the expiry index is due earlier than the state of the store says, so a purge may overlook the record.
  case earlyDeadline

  // Faults of counters.
  case damagedCounters
  case usedVersion(next: UInt64, used: UInt64)
  case pinnedOrWindow(counted: Window, found: Window)
  case entryCount(counted: Entries, found: Entries)
  case totals
  case dependents(counted: UInt64, found: UInt64)
  case clearedCount(counted: UInt64, found: Int)
  case invalidatedTagCount(counted: UInt64, found: Int)

  // Faults of the store's own records. `damagedRecord` has the message of an error, which names the record.
  case damagedRecord(String)
  case orphanedEntries(of: NamespaceID, Int)
  case orphanedCounters(of: NamespaceID)
  case damagedCountersKey(at: [UInt8])
  case sharedID(String, String)
  case clearedInUse(NamespaceID, String)
  case damagedClearedRecord(at: [UInt8])
  case damagedInvalidatedTag
  case damagedState

  case damagedPage(PageDamage)
  /// The write buffer cannot be committed. The text is the message of the error.
  case uncommittedRecords(String)

  struct Window: Hashable {
    let pinned, entries, bytes: UInt64

    init(_ counters: NamespaceCounters) {
      pinned = counters.pinned
      (entries, bytes) = (counters.queue.windowEntries, counters.queue.windowBytes)
    }
  }

  struct Entries: Hashable {
    let entries, bytes, stored: UInt64

    init(_ counters: NamespaceCounters) {
      (entries, bytes, stored) = (counters.entries, counters.bytes, counters.stored)
    }
  }

  var kind: Verification.Inconsistency.Kind {
    switch self {
    case .unreadableEntry, .wrongChecksum: .damagedEntry
    case .missingChunk: .damagedChunks
    case .lateDeadline, .missingDeadline, .earlyDeadline, .damaged(.deadlines, _),
      .dangling(.deadlines, _):
      .deadlines
    case .missingInQueue, .damaged(.queue, _), .dangling(.queue, _): .queue
    case .missingTag, .missingOwner, .contradictedTags, .damaged(.tags, _), .dangling(.tags, _):
      .tags
    case .damaged(.chunks, _), .dangling(.chunks, _): .chunks
    case .damagedCounters, .usedVersion, .pinnedOrWindow, .entryCount, .totals, .dependents,
      .clearedCount, .invalidatedTagCount:
      .counters
    case .damagedRecord, .damaged(.entries, _), .dangling(.entries, _), .orphanedEntries,
      .orphanedCounters, .damagedCountersKey, .sharedID, .clearedInUse, .damagedClearedRecord,
      .damagedInvalidatedTag, .damagedState:
      .metadata
    case .damagedPage, .uncommittedRecords: .pages
    }
  }

  var description: String {
    switch self {
    case .unreadableEntry: "the entry cannot be read"
    case .wrongChecksum: "the checksum does not match"
    case .missingChunk: "a chunk of the value is missing or damaged"
    case .lateDeadline: "the expiry index has it after its end"
    case .missingDeadline: "it is missing from the expiry index"
    case .missingInQueue: "it is missing from the queue"
    case .missingTag(let tag): "it is missing under tag \(String(decoding: tag, as: UTF8.self))"
    case .missingOwner(let owner): "it is missing under its owner \(owner)"
    case .contradictedTags: "the header contradicts the tags"
    case .damaged(.entries, let key), .dangling(.entries, let key):
      "there is a record with a key of \(key.count) bytes"
    case .damaged(.deadlines, _): "a record of the expiry index is damaged"
    case .dangling(.deadlines, _): "the expiry index has a record without an entry"
    case .earlyDeadline: "it expires before the earliest time that the state allows"
    case .damaged(.queue, _): "a record of the queue is damaged"
    case .dangling(.queue, _): "the queue has a record without an entry"
    case .damaged(.tags, _): "a record of the tag index is damaged"
    case .dangling(.tags, _): "the tag index has a record without an entry"
    case .damaged(.chunks, _): "the key of a chunk is damaged"
    case .dangling(.chunks, let key):
      "there is a chunk \(key.span.bigEndian(at: 12) as UInt32) without a value"
    case .damagedCounters:
      "the record of its counters is damaged; the next write to it counts its entries again"
    case .usedVersion(let next, let used):
      "the next version would be \(next), but version \(used) is in use"
    case .pinnedOrWindow(let counted, let found):
      "counted \(counted.pinned) pinned entries and \(counted.entries) entries of "
        + "\(counted.bytes) bytes in the window, found \(found.pinned) and "
        + "\(found.entries) of \(found.bytes)"
    case .entryCount(let counted, let found):
      "counted \(counted.entries) entries of \(counted.bytes) bytes (\(counted.stored) stored), "
        + "found \(found.entries) of \(found.bytes) (\(found.stored))"
    case .totals: "the totals of the store differ from the sums of its namespaces"
    case .dependents(let counted, let found):
      "counted \(counted) entries with owners, found \(found)"
    case .clearedCount(let counted, let found): "counted \(counted) cleared ids, found \(found)"
    case .invalidatedTagCount(let counted, let found):
      "counted \(counted) invalidated tags, found \(found)"
    case .damagedRecord(let message): message
    case .orphanedEntries(let id, let count):
      "there are \(count) entries of namespace id \(id.rawValue), which does not exist"
    case .orphanedCounters(let id):
      "there are counters of namespace id \(id.rawValue), which does not exist"
    case .damagedCountersKey: "the key of a record of counters is damaged"
    case .sharedID(let one, let other): "namespaces \(one) and \(other) have the same id"
    case .clearedInUse(_, let name): "namespace \(name) is in use and listed as cleared"
    case .damagedClearedRecord: "the record of a cleared namespace is damaged"
    case .damagedInvalidatedTag: "the record of an invalidated tag is damaged"
    case .damagedState: "the record of the store's state is damaged; the next write rebuilds it"
    case .damagedPage(let damage): damage.description
    case .uncommittedRecords(let message):
      "entries of the write buffer cannot be committed: \(message)"
    }
  }
}
