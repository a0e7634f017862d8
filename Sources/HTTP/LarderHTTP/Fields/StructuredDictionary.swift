#if HTTP
  /// A dictionary of structured fields (RFC 9651, section 3.2), without the parameters of its members.
  struct StructuredDictionary {
    enum Value: Equatable {
      case boolean(Bool)
      /// The text of a number, a token or a byte sequence.
      case bare(String)
      case string(String)
      /// The items of an inner list.
      case list([Value])
    }

    /// The members in order. If two members have equal keys, the last counts.
    private(set) var members: [(key: String, value: Value)] = []
    private var rest: ArraySlice<UInt8>

    /// Parses lines; nil if the lines together are not a dictionary.
    init?(_ lines: [String]) {
      rest = Self.bytes(lines)[...]
      skip { $0 == 0x20 }
      while !rest.isEmpty {
        guard let key = key() else { return nil }
        var value = Value.boolean(true)
        if take("=") {
          guard let given = member() else { return nil }
          value = given
        }
        guard skipParameters(), let isLast = skipSeparator() else { return nil }
        members.removeAll { $0.key == key }
        members.append((key, value))
        if isLast { return }
      }
    }

    private init(_ rest: ArraySlice<UInt8>) { self.rest = rest }

    /// The members of a list (section 3.1), without their parameters; nil if the lines together are not a list.
    static func list(_ lines: [String]) -> [Value]? {
      var parser = StructuredDictionary(bytes(lines)[...])
      var members: [Value] = []
      parser.skip { $0 == 0x20 }
      while !parser.rest.isEmpty {
        guard let member = parser.member(), parser.skipParameters(),
          let isLast = parser.skipSeparator()
        else { return nil }
        members.append(member)
        if isLast { break }
      }
      return members
    }

    private static func bytes(_ lines: [String]) -> [UInt8] {
      lines.map { Array($0.utf8) }.joined(separator: [0x2C, 0x20]).reduce(into: []) {
        $0.append($1)
      }
    }

    /// Skips the spaces and the comma between two members. Returns true at the end of the text, false before another member;
    /// nil if the text is malformed.
    private mutating func skipSeparator() -> Bool? {
      skip { $0 == 0x20 || $0 == 0x09 }
      if rest.isEmpty { return true }
      guard take(",") else { return nil }
      skip { $0 == 0x20 || $0 == 0x09 }
      // A member must follow each comma.
      return rest.isEmpty ? nil : false
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
      guard rest.first == UInt8(ascii: character) else { return false }
      rest.removeFirst()
      return true
    }

    private mutating func skip(_ isSkipped: (UInt8) -> Bool) { rest = rest.drop(while: isSkipped) }

    private mutating func takeAll(_ isTaken: (UInt8) -> Bool) -> String {
      let taken = rest.prefix(while: isTaken)
      rest = rest.dropFirst(taken.count)
      return String(decoding: taken, as: UTF8.self)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    private static func isLower(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }
    private static func isLetter(_ byte: UInt8) -> Bool { isLower(byte | 0x20) }

    private mutating func key() -> String? {
      guard let first = rest.first, Self.isLower(first) || first == UInt8(ascii: "*") else {
        return nil
      }
      return takeAll { Self.isLower($0) || Self.isDigit($0) || "_-.*".utf8.contains($0) }
    }

    private mutating func skipParameters() -> Bool {
      while take(";") {
        skip { $0 == 0x20 }
        guard key() != nil else { return false }
        if take("="), item() == nil { return false }
      }
      return true
    }

    private mutating func member() -> Value? {
      guard take("(") else { return item() }
      var items: [Value] = []
      while true {
        skip { $0 == 0x20 }
        if take(")") { return .list(items) }
        guard let item = item(), skipParameters() else { return nil }
        items.append(item)
        guard let next = rest.first, next == 0x20 || next == UInt8(ascii: ")") else { return nil }
      }
    }

    private mutating func item() -> Value? {
      guard let first = rest.first else { return nil }
      switch first {
      case UInt8(ascii: "\""): return string()
      case UInt8(ascii: "?"):
        rest.removeFirst()
        if take("1") { return .boolean(true) }
        return take("0") ? .boolean(false) : nil
      case UInt8(ascii: ":"):
        rest.removeFirst()
        let text = takeAll { Self.isLetter($0) || Self.isDigit($0) || "+/=".utf8.contains($0) }
        return take(":") ? .bare(text) : nil
      case UInt8(ascii: "*"), 0x41...0x5A, 0x61...0x7A:
        return .bare(
          takeAll {
            Self.isLetter($0) || Self.isDigit($0) || "!#$%&'*+-.^_`|~:/".utf8.contains($0)
          })
      default: return number()
      }
    }

    private mutating func number() -> Value? {
      let sign = take("-") ? "-" : ""
      let whole = takeAll(Self.isDigit)
      guard !whole.isEmpty, whole.utf8.count <= 15 else { return nil }
      guard take(".") else { return .bare(sign + whole) }
      let fraction = takeAll(Self.isDigit)
      guard (1...3).contains(fraction.utf8.count), whole.utf8.count <= 12 else { return nil }
      return .bare(sign + whole + "." + fraction)
    }

    private mutating func string() -> Value? {
      rest.removeFirst()
      var bytes: [UInt8] = []
      while let byte = rest.popFirst() {
        switch byte {
        case UInt8(ascii: "\""): return .string(String(decoding: bytes, as: UTF8.self))
        case UInt8(ascii: "\\"):
          guard let next = rest.popFirst(),
            next == UInt8(ascii: "\"") || next == UInt8(ascii: "\\")
          else { return nil }
          bytes.append(next)
        case 0x20...0x7E: bytes.append(byte)
        default: return nil
        }
      }
      return nil
    }
  }
#endif
