/// A field of a service that may be absent, null, or of another type: `3`, `"3"` or `"+3"` for a number. Nil for anything else,
/// such as `"nan"`, which JSON cannot express.
///
/// For fields without which the rest of the answer is still of use.
@propertyWrapper
public struct Lenient<Value: LosslessStringConvertible & Decodable & Sendable>: Decodable, Sendable
{
  public var wrappedValue: Value?

  public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      wrappedValue = nil
    } else if let value = try? container.decode(Value.self) {
      wrappedValue = value
    } else if let text = try? container.decode(String.self) {
      wrappedValue = Value(text)
    } else if let number = try? container.decode(Int64.self) {
      wrappedValue = Value("\(number)")
    } else {
      wrappedValue = nil
    }
    if let number = wrappedValue as? Double, !number.isFinite { wrappedValue = nil }
  }
}

extension KeyedDecodingContainer {
  public func decode<Value>(
    _ type: Lenient<Value>.Type, forKey key: Key
  ) throws -> Lenient<Value> {
    try decodeIfPresent(type, forKey: key) ?? Lenient(wrappedValue: nil)
  }
}

/// An element of a list that may be of another form than the others.
public struct Attempt<Element: Decodable & Sendable>: Decodable, Sendable {
  public let result: Result<Element, any Error>
  /// The JSON of an element that cannot be decoded.
  public let json: JSON?

  public init(from decoder: any Decoder) throws {
    do {
      result = .success(try Element(from: decoder))
      json = nil
    } catch {
      result = .failure(error)
      json = try JSON(from: decoder)
    }
  }
}

/// A list of a service without the elements that cannot be decoded. A list with no other elements is an error.
public struct LenientList<Element: Decodable & Sendable>: Decodable, Sendable {
  public var elements: [Element]
  /// How many elements cannot be decoded.
  public var skipped: Int

  public init(from decoder: any Decoder) throws {
    let attempts = try [Attempt<Element>](from: decoder)
    elements = attempts.compactMap { try? $0.result.get() }
    skipped = attempts.count - elements.count
    if elements.isEmpty, let first = attempts.first { _ = try first.result.get() }
  }
}
