/// The result of ``Store/verify()``: the counts of the store, and its faults.
public struct Verification: Sendable {
  /// A contradiction between two places of the store, or a damaged record.
  public struct Inconsistency: Sendable, Hashable, CustomStringConvertible {
    /// Where the contradiction is.
    public enum Kind: String, Sendable, Codable {
      /// An entry cannot be read, or its checksum does not match. Every read misses it.
      case damagedEntry
      /// A chunk of a value is missing or damaged.
      case damagedChunks
      /// An entry is missing from the expiry index, or the index has a record without an entry.
      case deadlines
      /// An entry is missing from the queue, or the queue has a record without an entry.
      case queue
      /// An entry is missing under a tag or an owner, or there is a record without an entry.
      case tags
      /// A chunk belongs to no value.
      case chunks
      /// A counter differs from the entries that are stored.
      case counters
      /// A record of a namespace or of the store itself is damaged, or contradicts another.
      case metadata
      /// A page of the data file is damaged; entries on it are lost.
      case pages
    }

    /// The fault, with its facts.
    let fault: Fault
    /// The check that found it.
    public var kind: Kind { fault.kind }
    /// The namespace it concerns; nil if it concerns none or is unknown.
    public var namespace: String?
    /// The entry it concerns; nil if it concerns none or is unknown.
    public var key: Key?
    /// The contradiction or the damage, in one sentence.
    public var detail: String { fault.description }

    /// The entry as the databases name it.
    var entryKey: [UInt8]?

    init(_ fault: Fault, namespace: String? = nil) {
      self.fault = fault
      self.namespace = namespace
    }

    /// Namespace, key and detail in one line.
    public var description: String {
      let location = [namespace, key.map { "\"\($0)\"" }].compactMap { $0 }.joined(separator: " ")
      return location.isEmpty ? detail : "\(location): \(detail)"
    }
  }

  /// A rule by which the store may remove entries that code has declared as never removed: ``Rules/userData``, for example.
  public struct Warning: Sendable, Hashable, CustomStringConvertible {
    /// The namespace it concerns.
    public var namespace: String
    /// The rule, in one sentence.
    public var detail: String

    /// Namespace and detail in one line.
    public var description: String { "\(namespace): \(detail)" }
  }

  /// Entries of all namespaces, expired ones included.
  public var entries = 0
  /// Bytes of their values.
  public var bytes = 0
  /// Namespaces that were checked.
  public var namespaces = 0
  /// Entries of cleared namespaces that are still in the file.
  public var garbage = 0
  /// Everything that is wrong, in the order in which it was found.
  public var faults: [Inconsistency] = []
  /// Rules that endanger data of the user, in the order of namespaces. They are not damage: ``isSound`` ignores them.
  public var warnings: [Warning] = []

  /// The identity of the store that was checked.
  let store: [UInt8]

  /// Whether nothing is wrong.
  public var isSound: Bool { faults.isEmpty }
}

extension Store {
  /// Checks the whole store: the checksum of each entry, its records in every index, the entry of each index record, and all
  /// counters. Changes nothing.
  ///
  /// It reads everything in one snapshot, so pages that are freed meanwhile cannot be used again before it ends. O(entries).
  ///
  /// - Throws: an error if LMDB cannot read the file. Damage is not an error: it is in the result.
  public func verify() throws(LarderError) -> Verification {
    try verify { _, _ in true }!
  }

  /// Checks like ``verify()``, for as long as `shouldContinue` returns true.
  ///
  /// - Parameter shouldContinue: called now and then with the count of records checked, and of all.
  /// - Returns: nil if it was stopped.
  package func verify(
    while shouldContinue: @escaping (_ done: Int, _ all: Int) -> Bool
  ) throws(LarderError) -> Verification? {
    var verifier = Verifier(engine: engine, while: shouldContinue)
    do throws(LarderError) { try engine.settle() } catch {
      guard error.code == .damaged else { throw error }
      verifier.report(.uncommittedRecords(error.message))
    }
    let transaction = try engine.reader.beginRead()
    return try verifier.run(in: transaction) ? verifier.result : nil
  }
}
