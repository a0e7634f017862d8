import LMDB

extension Namespace {
  /// What the namespace holds and which rules it has; nil if there is no such namespace. O(log namespaces).
  public func facts() throws -> NamespaceFacts? {
    try core.settle(store)
    let transaction = try core.beginRead()
    guard let record = try core.record(named: name, in: transaction) else { return nil }
    return try core.facts(of: record, name: name, in: transaction).facts
  }
}

extension StoreCore {
  func record(
    named name: String, in transaction: borrowing ReadTransaction
  ) throws(LarderError) -> NamespaceRecord? {
    let bytes: [UInt8]
    do throws(LMDBError) {
      guard let region = try transaction.find(CatalogueKey.namespace(name), in: .main) else {
        return nil
      }
      bytes = transaction.bytes(of: region).copied
    } catch {
      throw self.error(error)
    }
    return try NamespaceRecord(bytes.span, name: name)
  }
}
