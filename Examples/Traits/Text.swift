import Larder

/// Text in a namespace, as UTF-8.
extension Store.Namespace {
  func value(for key: some StoreKey) throws(LarderError) -> String? {
    guard let bytes: [UInt8] = try value(for: key) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  func set(
    _ text: String, for key: some StoreKey, expires: Expiration? = nil
  ) throws(LarderError) {
    try set(Array(text.utf8), for: key, EntryAttributes(codec: .text, expires: expires))
  }
}
