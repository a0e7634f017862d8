/// The result of ``Store/verify()``: the counts of the store, and its faults.
public struct Verification: Sendable {
  /// A damaged record, or a contradiction between two records of the store.
  public struct Inconsistency: Sendable, Hashable, CustomStringConvertible {
    /// The part of the store that has the fault.
    public enum Kind: String, Sendable, Codable {
      /// An entry cannot be read, or its checksum does not match. Reads do not find the entry.
      case damagedEntry
      /// A chunk of a value is missing or damaged.
      case damagedChunks
      /// The expiry index lacks an entry, has a wrong time for an entry, or has a record that is damaged or leads to no entry.
      case deadlines
      /// The eviction queue lacks an entry, or has a record that is damaged or leads to no entry.
      case queue
      /// The tag index lacks an entry, or has a record that is damaged or leads to no entry, or a header contradicts the tags.
      case tags
      /// A chunk belongs to no value, or its key is damaged.
      case chunks
      /// A counter is damaged, or differs from the number of stored entries or records.
      case counters
      /// A record of a namespace or of the store itself is damaged, or contradicts another record.
      case metadata
      /// A page of the data file is damaged, so its entries are lost. Or damage prevents the commit of the write buffer.
      case pages
    }

    let fault: Fault
    /// The kind of the fault.
    public var kind: Kind { fault.kind }
    /// The namespace of the fault; nil if the fault has no namespace, or the namespace is unknown.
    public var namespace: String?
    /// The key of the entry with the fault; nil if no entry is known. A long key is in its stored form.
    public var key: Key?
    /// The contradiction or the damage, in one sentence.
    public var detail: String { fault.description }

    var entryKey: [UInt8]?

    /// Namespace, key and detail in one line.
    public var description: String {
      let location = [namespace, key.map { "\"\($0)\"" }].compactMap { $0 }.joined(separator: " ")
      return location.isEmpty ? detail : "\(location): \(detail)"
    }
  }

  /// An operator's rule that lets the store remove entries that code declared as permanent; see ``Rules/userData``.
  public struct Warning: Sendable, Hashable, CustomStringConvertible {
    /// The namespace with the rule.
    public var namespace: String
    /// The rule, in one sentence.
    public var detail: String

    /// Namespace and detail in one line.
    public var description: String { "\(namespace): \(detail)" }
  }

  /// The parts of the check, in their order. `counts` is the last part, because `counts` needs the results of the other parts.
  package enum Part: CaseIterable, Sendable {
    case sizes, garbage, counterRecords, entries, deadlines, queue, tags, chunks, counts
  }

  /// The number of entries in all namespaces, including expired entries.
  public var entries = 0
  /// The total size in bytes of the entries' values.
  public var bytes = 0
  /// The number of checked namespaces.
  public var namespaces = 0
  /// The number of entries of cleared namespaces that are still in the file.
  public var garbage = 0
  /// All faults, in the order in which they were found.
  public var faults: [Inconsistency] = []
  /// Rules that endanger data of the user, in the order of namespaces. A warning is no fault, so ``isSound`` ignores warnings.
  public var warnings: [Warning] = []
  /// The parts that a damaged page has ended early, so these parts may overlook faults.
  package var unfinished: Set<Part> = []

  /// For each namespace, the version that the next value would have got during the check.
  var nextVersions: [NamespaceID: UInt64] = [:]
  let store: [UInt8]

  /// Whether the check found no fault.
  public var isSound: Bool { faults.isEmpty }
}

extension Store {
  /// Checks the whole store: the checksum of each entry, its records in every index, the entry of each index record, and all
  /// counters. Commits the write buffer first, and changes nothing else.
  ///
  /// Reads everything in one snapshot, so LMDB cannot reuse freed pages before the check ends. O(entries).
  ///
  /// - Throws: an error if LMDB cannot read the file or commit the write buffer. Damage is no error: the result reports damage.
  public func verify() throws(LarderError) -> Verification { try verify { _, _ in true }! }

  /// Like ``verify()``. Calls `shouldContinue` with the numbers of checked and of all records. Returns nil if a result is false.
  package func verify(
    while shouldContinue: @escaping (_ done: Int, _ all: Int) -> Bool
  ) throws(LarderError) -> Verification? {
    var verifier = Verifier(engine: engine, while: shouldContinue)
    do throws(LarderError) { try engine.settle() } catch  where error.code == .damaged {
      verifier.report(.uncommittedRecords(error.message))
    }
    return try verifier.run(in: engine.reader.beginRead()) ? verifier.result : nil
  }
}
