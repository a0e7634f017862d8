import Service

/// Text, flags and lists in which a service may write a number as text, text as a number, or null for nothing; a field that the
/// rest can do without is nil in another form. In this module these stand in for those of the
/// standard library, also where the compiler writes the decoding of a type.
extension KeyedDecodingContainer {
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try decode(Lenient<String>.self, forKey: key).wrappedValue
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try decode(Lenient<Bool>.self, forKey: key).wrappedValue
  }

  func decodeIfPresent(_ type: [String].Type, forKey key: Key) throws -> [String]? {
    try decodeIfPresent([Lenient<String>?].self, forKey: key)?.compactMap { $0?.wrappedValue }
  }

  func decode(_ type: [Int?].Type, forKey key: Key) throws -> [Int?] {
    try decodeIfPresent([Lenient<Int>?].self, forKey: key)?.map { $0?.wrappedValue } ?? []
  }

  func decode(_ type: [[String]].Type, forKey key: Key) throws -> [[String]] {
    let lists = try decodeIfPresent([[Lenient<String>?]?].self, forKey: key) ?? []
    return lists.map { $0?.compactMap { $0?.wrappedValue } ?? [] }
  }

  func decodeIfPresent(
    _ type: [String: [String?]].Type, forKey key: Key
  ) throws -> [String: [String?]]? {
    try decodeIfPresent([String: [Lenient<String>?]?].self, forKey: key)?
      .compactMapValues { ids in ids?.map { $0?.wrappedValue } }
  }

  func decodeIfPresent(
    _ type: [String: Color.ExternalID].Type, forKey key: Key
  ) throws -> [String: Color.ExternalID]? {
    try decodeIfPresent([String: Color.ExternalID?].self, forKey: key)?.compactMapValues { $0 }
  }
}
