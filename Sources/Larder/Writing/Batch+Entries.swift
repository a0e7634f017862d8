import LMDB

extension Batch {
  /// What is known of the entry under `key` as this batch sees it, be it expired; counts nothing.
  public mutating func entry(for key: some StoreKey, in namespace: Namespace) throws -> Entry? {
    try key.withKeyBytes { key in
      guard let record = try record(named: namespace.name),
        let entry = try entry(key, in: record.id), try !isHidden(entry)
      else { return nil }
      var owners: [Owner] = []
      for owner in entry.owners {
        if let name = try name(of: owner.id) { owners.append(Owner(Key(owner.key), in: name)) }
      }
      return core.facts(
        of: entry, key: Key(key.copied), namespace: namespace.name, owners: owners)
    }
  }

  /// Begins the entry's lifetime anew; see ``Namespace/touch(_:expires:)``.
  @discardableResult
  public mutating func touch(
    _ key: some StoreKey, in namespace: Namespace, expires: Expiration? = nil
  ) throws -> Bool {
    try key.withKeyBytes { key in
      try reschedule(key, in: namespace.name, expires: expires)
    }
  }
}
