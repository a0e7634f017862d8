import LMDB
import LarderSystem

extension Store.Namespace {
  /// What the namespace holds and which rules it has; nil if there is no such namespace. O(log namespaces).
  public func info() throws -> NamespaceInfo? {
    try engine.settle(store)
    let transaction = try engine.beginRead()
    guard let record = try engine.record(named: name, in: transaction) else { return nil }
    return try engine.facts(of: record, name: name, in: transaction).facts
  }
}

extension StoreEngine {
  func record(
    named name: String, in transaction: borrowing ReadTransaction
  ) throws(LarderError) -> NamespaceRecord? {
    let bytes: [UInt8]
    do throws(LMDBError) {
      guard let region = try transaction.find(MetadataKey.namespace(name), in: .main) else {
        return nil
      }
      bytes = transaction.bytes(of: region).copied
    } catch {
      throw self.error(error)
    }
    return try NamespaceRecord(bytes.span, name: name)
  }
}
