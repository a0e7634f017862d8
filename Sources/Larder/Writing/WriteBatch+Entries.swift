import LMDB
import LarderSystem

extension WriteBatch {
  /// What is known of the entry under `key` as this batch sees it, be it expired; counts nothing.
  public mutating func entry(for key: some StoreKey, in namespace: Store.Namespace) throws -> Store
    .Entry?
  {
    try key.withKeyBytes { key in
      guard let record = try record(named: namespace.name),
        let entry = try entry(key, in: record.id), try !isHidden(entry)
      else { return nil }
      var owners: [Owner] = []
      for owner in entry.owners {
        if let name = try name(of: owner.id) { owners.append(Owner(Key(owner.key), in: name)) }
      }
      return engine.facts(
        of: entry, key: Key(key.copied), namespace: namespace.name, owners: owners)
    }
  }

  /// Begins the entry's lifetime anew; see ``Store/Namespace/touch(_:expires:)``.
  @discardableResult
  public mutating func touch(
    _ key: some StoreKey, in namespace: Store.Namespace, expires: Expiration? = nil
  ) throws -> Bool {
    try key.withKeyBytes { key in
      try reschedule(key, in: namespace.name, expires: expires)
    }
  }

  /// Keeps something else beside the value, which is not written for that, nor its lifetime begun anew; false if there is
  /// no such entry or it has expired.
  ///
  /// The entry's version stays: a load of the key that is under way still takes its place.
  @discardableResult
  public mutating func setMetadata(
    _ metadata: [UInt8]?, of key: some StoreKey, in namespace: Store.Namespace
  ) throws -> Bool {
    try key.withKeyBytes { key in
      guard let entry = try living(key, in: namespace.name) else { return false }
      try account(entry.recordCount + (metadata?.count ?? 0))
      guard let key = entry.key, let body = try intactBody(of: entry, key: key) else {
        return false
      }
      stamp()
      var fields = entry.fields
      fields[.metadata] = metadata
      try rewrite(entry, fields: fields, key: key, body: body)
      return true
    }
  }
}
