package import Larder

extension Store.Namespace {
  package func value(for key: some StoreKey) throws(LarderError) -> String? {
    guard let bytes: [UInt8] = try value(for: key) else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }

  package func set(
    _ text: String, for key: some StoreKey, expires: Expiration? = nil
  ) throws(LarderError) {
    try set(Array(text.utf8), for: key, EntryAttributes(codec: .text, expires: expires))
  }

  package func set(
    _ text: String, for key: some StoreKey, expires: Expiration? = nil
  ) async throws {
    try await set(Array(text.utf8), for: key, EntryAttributes(codec: .text, expires: expires))
  }

  @discardableResult
  package func setIfAbsent(
    _ text: String, for key: some StoreKey, expires: Expiration? = nil
  ) throws(LarderError) -> Bool { try setIfAbsent(Array(text.utf8), for: key, expires: expires) }
}

extension WriteBatch {
  package mutating func set(
    _ text: String, for key: some StoreKey, in namespace: Store.Namespace,
    expires: Expiration? = nil
  ) throws(LarderError) {
    try set(
      Array(text.utf8), for: key, in: namespace, EntryAttributes(codec: .text, expires: expires))
  }
}
