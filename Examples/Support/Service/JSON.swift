/// Any JSON value in full, for data that an adapter must keep whole, although it uses only a few fields.
public enum JSON: Sendable, Hashable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  public subscript(member: String) -> JSON? {
    get { if case .object(let members) = self { members[member] } else { nil } }
    set {
      guard case .object(var members) = self else { return }
      members[member] = newValue
      self = .object(members)
    }
  }

  public var text: String? { if case .string(let text) = self { text } else { nil } }
  /// The value as a number, which some services send as text.
  public var number: Double? {
    if case .number(let number) = self { return number }
    return text.flatMap { Double($0) }.flatMap { $0.isFinite ? $0 : nil }
  }
  /// The value as text, such as an id, which some services send as a whole number. Nil for a number that may be rounded.
  public var word: String? {
    guard case .number(let number) = self else { return text }
    return number.magnitude < 0x1p53 ? Int(exactly: number).map { "\($0)" } : nil
  }
  public var isTrue: Bool? { if case .bool(let bool) = self { bool } else { nil } }
}

extension JSON: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    func decoded<Value: Decodable>(_ json: (Value) -> JSON) -> JSON? {
      (try? container.decode(Value.self)).map(json)
    }
    let scalar = container.decodeNil() ? JSON.null : decoded(JSON.bool) ?? decoded(JSON.number)
    let json = scalar ?? decoded(JSON.string) ?? decoded(JSON.array)
    self = try json ?? .object(container.decode([String: JSON].self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let values): try container.encode(values)
    case .object(let members): try container.encode(members)
    }
  }
}
