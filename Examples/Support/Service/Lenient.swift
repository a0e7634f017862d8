/// A field that a service may leave out, or write as null or as another type: `3`, `"3"` or `"+3"` for a number, `1` for true.
/// Other values give nil: `"nan"`, or `[]`, which some services write for an empty object.
public struct Lenient<Value: Decodable & Sendable>: Decodable, Sendable {
  public var value: Value?

  public init(from decoder: any Decoder) throws {
    value = try? Value(from: decoder)
    if value == nil, let type = Value.self as? any LosslessStringConvertible.Type {
      let flags: [String: any LosslessStringConvertible] = ["0": false, "1": true]
      // `JSON` may round a number of more than 53 bits, such as a long id.
      let word = (try? Int(from: decoder)).map { "\($0)" } ?? (try? JSON(from: decoder).word)
      value = word.flatMap { type.init($0) ?? flags[$0] } as? Value
    }
    if let number = value as? Double, !number.isFinite { value = nil }
  }
}

extension KeyedDecodingContainer {
  /// Decodes a field without which the rest is still useful. Accepts other types; nil if the value does not fit.
  public func decodeIfPresent<Value: Decodable & Sendable>(
    lenient type: Value.Type, forKey key: Key
  ) throws -> Value? { try decodeIfPresent(Lenient<Value>.self, forKey: key)?.value }

  /// Decodes a field without which the rest is useless, such as an id. Accepts other types; throws if the value does not fit.
  public func decode<Value: Decodable & Sendable>(
    lenient type: Value.Type, forKey key: Key
  ) throws -> Value {
    try decodeIfPresent(lenient: type, forKey: key) ?? decode(type, forKey: key)
  }

  // A service may write a number as text, and an optional field of another form is nil. In a file that imports this module,
  // these methods replace the standard library's methods, also in the decoding that the compiler writes for a type.
  public func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try decode(lenient: type, forKey: key)
  }
  public func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try decode(lenient: type, forKey: key)
  }
  public func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try decodeIfPresent(lenient: type, forKey: key)
  }
  public func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try decodeIfPresent(lenient: type, forKey: key)
  }
  public func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try decodeIfPresent(lenient: type, forKey: key)
  }
  public func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try decodeIfPresent(lenient: type, forKey: key)
  }
}

/// A list of a service, without the elements that cannot be decoded. Throws if the list has elements and none can be decoded.
public struct LenientList<Element: Decodable & Sendable>: Decodable, Sendable {
  public var elements: [Element] = []
  /// The elements that cannot be decoded, and why: `3001: results[0].name is missing`.
  public var skipped: [String] = []

  public init(from decoder: any Decoder) throws {
    var list = try decoder.unkeyedContainer()
    while !list.isAtEnd {
      let element = try list.superDecoder()
      do { elements.append(try Element(from: element)) } catch {
        // If the element has text that is no valid Unicode, `json` is nil.
        let json = try? JSON(from: element)
        let names = ["part_num", "set_num", "element_id", "color_id", "slug", "id", "name"]
        let key = names.lazy.compactMap { json?[$0]?.word }.first { !$0.isEmpty }
        let reason = (error as? DecodingError)?.words ?? "\(error)"
        skipped.append((key.map { $0 + ": " } ?? "") + reason)
      }
    }
    if elements.isEmpty, let fault = skipped.first {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: fault))
    }
  }
}
