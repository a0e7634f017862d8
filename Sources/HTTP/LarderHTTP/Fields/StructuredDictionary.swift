#if HTTP
  import LarderSystem
  /// A dictionary of structured fields (RFC 8941, 3.2). Parameters, which may also be dates (RFC 9651), are skipped.
  struct StructuredDictionary {
    enum Value: Equatable {
      case boolean(Bool)
      /// The text of a number, a token or a byte sequence.
      case bare(String)
      case string(String)
      /// The items of an inner list.
      case list([Value])

      /// The text without quotes. For a list, the texts of its items with commas between them. Nil for a boolean.
      var text: String? {
        switch self {
        case .boolean: nil
        case .bare(let text), .string(let text): text
        case .list(let items): items.compactMap(\.text).joined(separator: ",")
        }
      }
    }

    /// The members in order. Of several members with equal keys, the last member counts.
    private(set) var members: [(key: String, value: Value)] = []
    private var rest: ArraySlice<UInt8>

    /// Parses lines; nil if the lines together are not a dictionary.
    init?(_ lines: [String]) {
      self.init(joining: lines)
      let isValid = takeMembers { parser in
        guard let key = parser.key(),
          let value = parser.take("=") ? parser.member() : .boolean(true)
        else { return false }
        parser.members.append((key, value))
        return true
      }
      if !isValid { return nil }
      // Repeated keys are removed at the end, because a search for each member would take quadratic time.
      var known: Set<String> = []
      members = members.reversed().filter { known.insert($0.key).inserted }.reversed()
    }

    private init(joining lines: [String]) { rest = Array(lines.joined(separator: ", ").utf8)[...] }

    /// The members of a list (section 3.1), without their parameters; nil if the lines together are not a list.
    static func list(_ lines: [String]) -> [Value]? {
      var parser = StructuredDictionary(joining: lines)
      var members: [Value] = []
      let isValid = parser.takeMembers { parser in
        guard let member = parser.member() else { return false }
        members.append(member)
        return true
      }
      return isValid ? members : nil
    }

    /// Takes all members, each by `takeMember`. Returns false if the text is malformed.
    private mutating func takeMembers(by takeMember: (inout Self) -> Bool) -> Bool {
      skip { $0 == 0x20 }
      while !rest.isEmpty {
        guard takeMember(&self), skipParameters(), let isLast = skipSeparator() else {
          return false
        }
        if isLast { break }
      }
      return true
    }

    /// Skips the spaces and the comma after a member. Returns true at the end, false before a member, nil for malformed text.
    private mutating func skipSeparator() -> Bool? {
      skip { $0 == 0x20 || $0 == 0x09 }
      if rest.isEmpty { return true }
      guard take(",") else { return nil }
      skip { $0 == 0x20 || $0 == 0x09 }
      // A member must follow each comma, so an end after a comma is malformed.
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

    private mutating func key() -> String? {
      guard let first = rest.first, first.isLowercase || first == UInt8(ascii: "*") else {
        return nil
      }
      return takeAll { $0.isLowercase || $0.isDigit || "_-.*".utf8.contains($0) }
    }

    private mutating func skipParameters() -> Bool {
      while take(";") {
        skip { $0 == 0x20 }
        guard key() != nil else { return false }
        if take("="), (take("@") ? number() : item()) == nil { return false }
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
        let text = takeAll { $0.isLetter || $0.isDigit || "+/=".utf8.contains($0) }
        return take(":") ? .bare(text) : nil
      case UInt8(ascii: "*"), 0x41...0x5A, 0x61...0x7A:
        return .bare(takeAll { $0.isLetter || $0.isDigit || "!#$%&'*+-.^_`|~:/".utf8.contains($0) })
      default: return number()
      }
    }

    private mutating func number() -> Value? {
      let sign = take("-") ? "-" : ""
      let whole = takeAll(\.isDigit)
      guard !whole.isEmpty, whole.utf8.count <= 15 else { return nil }
      guard take(".") else { return .bare(sign + whole) }
      let fraction = takeAll(\.isDigit)
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
          guard let next = rest.popFirst(), next == UInt8(ascii: "\"") || next == UInt8(ascii: "\\")
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
