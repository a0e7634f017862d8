import LMDB
import LarderSystem
import Synchronization

/// What a write of a value came to: enough to keep the value in memory.
struct Stored: Sendable {
  var id: NamespaceID
  var header: EntryHeader
  /// The last commit before the write's own. Of its own nobody knows here whether it is the last word on the key, for
  /// other writes of the group may have changed it again.
  var snapshot: UInt64
}

/// The writes of one value, as they share a commit with others.
extension Cache {
  /// Declares the rules unless they are known to be declared, so that what a lower limit evicts leaves in bounded steps.
  func declareRules() throws(LarderError) {
    try namespace.store.checkWritable()
    guard let rules else { return }
    let known = namespace.handle.known.withLock { $0?.namespace.record.rules.declared }
    if known != rules.inMilliseconds { try namespace.store.declare(rules, for: name) }
  }

  func setting(
    _ bytes: [UInt8], for key: some StoreKey, _ attributes: EntryAttributes
  ) throws -> SharedWrite<Stored> {
    let key = try key.copied
    return SharedWrite(size: bytes.count) { batch in
      let (id, header) = try batch.set(encoded: bytes, for: key, in: self, attributes)
      return Stored(id: id, header: header, snapshot: batch.transaction.id - 1)
    }
  }

  func settingIfAbsent(
    _ bytes: [UInt8], for key: some StoreKey, _ expires: Expiration?
  ) throws -> SharedWrite<Bool> {
    let key = try key.copied
    return SharedWrite(size: bytes.count) { batch in
      let present = try batch.value(for: key, in: namespace)
      if let present, canDecode(present) { return false }
      try batch.set(encoded: bytes, for: key, in: self, EntryAttributes(expires: expires))
      return true
    }
  }

  func updating(
    _ key: some StoreKey, _ expires: Expiration?,
    _ change: @escaping @Sendable (Value?) throws -> Value?
  ) throws -> SharedWrite<Value?> {
    let key = try key.copied
    return SharedWrite { batch in
      let new = try change(try batch.value(for: key, in: self))
      if let new {
        try batch.set(new, for: key, in: self, expires: expires)
      } else {
        try batch.remove(key, from: self)
      }
      return new
    }
  }

  /// Keeps a value that was just written. A codec that may give back something else has to be asked what it gives.
  func keep(_ value: Value, for key: some StoreKey, size: Int, _ stored: Stored) throws {
    guard memory != nil, codec.isLossless else { return }
    try key.withKeyBytes { key in
      keep(
        value, for: key, size: size, id: stored.id, header: stored.header,
        snapshot: stored.snapshot)
    }
  }

  func forget(_ key: some StoreKey) throws {
    try key.withKeyBytes { key in memory?.item(key).map { memory?.remove($0) } }
  }
}
