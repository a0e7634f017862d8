/// Reads JSON by its grammar, without recursion.
package struct JSONScanner {
  private enum Expectation { case value, valueOrEnd, name, nameOrEnd, separator, nothing }

  private static let deepest = 200

  private let bytes: [UInt8]
  private var index = 0
  private var tokens: [JSONText.Token] = []
  /// The open brackets.
  private var open: [UInt8] = []

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  package mutating func scan() throws(JSONText.Flaw) -> [JSONText.Token] {
    var expected = Expectation.value
    while true {
      while index < bytes.count, [.space, .tab, .newline, .carriageReturn].contains(bytes[index]) {
        index += 1
      }
      guard index < bytes.count else { break }
      expected = try next(expected)
    }
    guard expected == .nothing else { throw flaw("unexpected end") }
    return tokens
  }

  private mutating func next(_ expected: Expectation) throws(JSONText.Flaw) -> Expectation {
    switch (bytes[index], expected) {
    case (UInt8(ascii: "}"), .nameOrEnd), (UInt8(ascii: "]"), .valueOrEnd),
      (UInt8(ascii: "}"), .separator), (UInt8(ascii: "]"), .separator):
      return try close()
    case (UInt8(ascii: ","), .separator):
      index += 1
      return open.last == UInt8(ascii: "{") ? .name : .value
    case (.doubleQuote, .name), (.doubleQuote, .nameOrEnd):
      return try name()
    case (UInt8(ascii: "{"), .value), (UInt8(ascii: "{"), .valueOrEnd):
      try begin()
      return .nameOrEnd
    case (UInt8(ascii: "["), .value), (UInt8(ascii: "["), .valueOrEnd):
      try begin()
      return .valueOrEnd
    case (_, .value), (_, .valueOrEnd):
      try scalar()
      return open.isEmpty ? .nothing : .separator
    case (_, .nothing):
      throw flaw("unexpected text after the value")
    case (_, .separator):
      throw flaw(
        "expected a comma or the end of the \(open.last == UInt8(ascii: "{") ? "object" : "array")"
      )
    case (_, .name), (_, .nameOrEnd):
      throw flaw("expected a name in quotes")
    }
  }

  private mutating func begin() throws(JSONText.Flaw) {
    guard open.count < Self.deepest else { throw flaw("nested too deep") }
    open.append(bytes[index])
    add(.open, to: index + 1)
  }

  private mutating func close() throws(JSONText.Flaw) -> Expectation {
    let partner: UInt8 = bytes[index] == UInt8(ascii: "}") ? UInt8(ascii: "{") : UInt8(ascii: "[")
    guard open.popLast() == partner else { throw flaw("mismatched bracket") }
    add(.close, to: index + 1)
    return open.isEmpty ? .nothing : .separator
  }

  private mutating func name() throws(JSONText.Flaw) -> Expectation {
    add(.name, to: try endOfString())
    while index < bytes.count, [.space, .tab, .newline, .carriageReturn].contains(bytes[index]) {
      index += 1
    }
    guard index < bytes.count, bytes[index] == UInt8(ascii: ":") else {
      throw flaw("expected a colon")
    }
    index += 1
    return .value
  }

  private mutating func scalar() throws(JSONText.Flaw) {
    switch bytes[index] {
    case .doubleQuote:
      add(.value, to: try endOfString())
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      add(.value, to: try endOfNumber())
    default:
      let words = ["true", "false", "null"].map { Array($0.utf8) }
      guard let word = words.first(where: { bytes[index...].starts(with: $0) }) else {
        throw flaw("expected a value")
      }
      add(.value, to: index + word.count)
    }
  }

  private mutating func endOfString() throws(JSONText.Flaw) -> Int {
    var end = index + 1
    while end < bytes.count, bytes[end] != .doubleQuote {
      guard bytes[end] >= .space else { throw flaw("a control character in a string", at: end) }
      guard bytes[end] == .backslash else {
        end += 1
        continue
      }
      guard end + 1 < bytes.count else { break }
      switch bytes[end + 1] {
      case UInt8(ascii: "u"):
        let digits = bytes[(end + 2)...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ $0.hexValue != nil }) else {
          throw flaw("\\u takes four hex digits", at: end)
        }
        end += 6
      case let byte where Array("\"\\/bfnrt".utf8).contains(byte): end += 2
      default: throw flaw("unknown escape", at: end)
      }
    }
    guard end < bytes.count else { throw flaw("unclosed string") }
    return end + 1
  }

  private func endOfNumber() throws(JSONText.Flaw) -> Int {
    var end = index
    func digits() -> Int { bytes[end...].prefix { $0.isDigit }.count }
    if bytes[end] == UInt8(ascii: "-") { end += 1 }
    let whole = digits()
    guard whole == 1 || (whole > 1 && bytes[end] != UInt8(ascii: "0")) else {
      throw flaw("invalid number", at: index)
    }
    end += whole
    if end < bytes.count, bytes[end] == UInt8(ascii: ".") {
      end += 1
      guard digits() > 0 else { throw flaw("expected a digit", at: end) }
      end += digits()
    }
    if end < bytes.count, bytes[end] | 0x20 == UInt8(ascii: "e") {
      end += 1
      if end < bytes.count, [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(bytes[end]) {
        end += 1
      }
      guard digits() > 0 else { throw flaw("expected a digit", at: end) }
      end += digits()
    }
    return end
  }

  private mutating func add(_ kind: JSONText.Token.Kind, to end: Int) {
    tokens.append(JSONText.Token(kind: kind, range: index..<end))
    index = end
  }

  private func flaw(_ reason: SafeText, at offset: Int? = nil) -> JSONText.Flaw {
    JSONText.Flaw(reason: reason, offset: offset ?? index)
  }
}
