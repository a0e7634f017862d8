/// What a walk through the whole store found.
public struct Verification: Sendable {
  /// Something that is not as it must be.
  public struct Inconsistency: Sendable, Hashable, CustomStringConvertible {
    public enum Kind: String, Sendable, Codable {
      /// An entry cannot be read or its checksum does not fit; it is a miss to every read.
      case damagedEntry
      /// A value in chunks is not whole.
      case damagedChunks
      /// An index lacks an entry, or has one that is not there.
      case deadlines, queue, tags, chunks
      /// A count is not what is there.
      case counters
      /// The catalogue contradicts itself.
      case catalogue
    }

    public var kind: Kind
    public var namespace: String?
    public var key: Key?
    public var detail: String

    public var description: String {
      let place = [namespace, key.map { "\"\($0)\"" }].compactMap { $0 }.joined(separator: " ")
      return place.isEmpty ? detail : "\(place): \(detail)"
    }
  }

  public var entries = 0
  public var bytes = 0
  public var namespaces = 0
  /// Entries of cleared namespaces that are still in the file.
  public var garbage = 0
  public var faults: [Inconsistency] = []

  public var isSound: Bool { faults.isEmpty }
}

extension Store {
  /// Walks through everything: each entry's checksum, its place in every index, each index's way back, and the counts.
  ///
  /// Reads the whole store in one snapshot, which keeps freed pages from being used again meanwhile; changes nothing.
  public func verify() throws(LarderError) -> Verification {
    try verify { _, _ in true }!
  }

  /// Verifies like ``verify()``, for as long as `shouldContinue` says, which is told how many records of how many were looked at;
  /// nil if it was stopped.
  package func verify(
    while shouldContinue: @escaping (_ done: Int, _ all: Int) -> Bool
  ) throws(LarderError) -> Verification? {
    let transaction = try engine.beginRead()
    var verifier = Verifier(engine: engine, while: shouldContinue)
    return try verifier.run(in: transaction) ? verifier.result : nil
  }
}
