import Service

/// Lists in which a service may write a number as text, or text as a number. In this module these stand in for those of the
/// standard library, also where the compiler writes the decoding of a type.
extension KeyedDecodingContainer {
  func decodeIfPresent(_ type: [String].Type, forKey key: Key) throws -> [String]? {
    try decodeIfPresent([Lenient<String>?].self, forKey: key)?.compactMap { $0?.wrappedValue }
  }

  func decode(_ type: [Int?].Type, forKey key: Key) throws -> [Int?] {
    try decode([Lenient<Int>?].self, forKey: key).map { $0?.wrappedValue }
  }

  func decodeIfPresent(
    _ type: [String: [String?]].Type, forKey key: Key
  ) throws -> [String: [String?]]? {
    try decodeIfPresent([String: [Lenient<String>?]].self, forKey: key)?
      .mapValues { ids in ids.map { $0?.wrappedValue } }
  }
}
