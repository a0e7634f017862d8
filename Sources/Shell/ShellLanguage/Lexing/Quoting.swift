/// Text forms of bytes. The lexer can read most of these forms, and then gives the same bytes.
package enum Quoting {
  /// The form in tables and messages: in double quotes, with escapes for controls, hidden characters and invalid bytes.
  package static func quoted(_ bytes: [UInt8]) -> String {
    "\"" + escaped(bytes, quotes: true, hidden: true) + "\""
  }

  /// The form of a key in tables: `int:10` or `uuid:...` for an integer or a UUID, or else the quoted form.
  package static func key(_ bytes: [UInt8]) -> String { TypedKey.text(of: bytes) ?? quoted(bytes) }

  /// The form in messages: for a long key only its beginning and its length.
  package static func brief(_ bytes: [UInt8]) -> String {
    guard bytes.count > mostInMessages else { return key(bytes) }
    // The cut is at the end of a character, so that the text stays valid.
    var end = 0
    while case let next = bytes.character(at: end).end, next <= mostInMessages { end = next }
    return quoted(Array(bytes[..<end])) + "... (\(Wording.count(bytes.count)) bytes)"
  }

  private static let mostInMessages = 120

  /// The form in `plain` output. A name (key, namespace, tag) can be typed back in double quotes; other fields stay valid JSON.
  package static func plain(_ bytes: [UInt8], isName: Bool = true) -> String {
    escaped(bytes, quotes: isName, hidden: false)
  }

  /// Text other than a key, for a person: safe to print, and without quotes around the text.
  package static func printable(_ bytes: [UInt8]) -> String {
    escaped(bytes, quotes: false, hidden: true, backslash: false)
  }

  /// The form that completion inserts. Quotes are added only if the lexer would read the unquoted text as another key.
  package static func typed(_ bytes: [UInt8]) -> String {
    if let text = TypedKey.text(of: bytes) { return text }
    let isPlain = bytes.allSatisfy {
      $0 >= 0x80 || $0 > 0x20 && !"\\'\"*?[]{};|><&#".utf8.contains($0)
    }
    let prefixes = ["-", "@", ":", ".", "!", "hex:", "b64:"] + TypedKey.prefixes
    let leads = prefixes.contains { bytes.starts(with: $0.utf8) }
    let safe = quoted(bytes)
    return isPlain && !leads && safe.utf8.count == bytes.count + 2 && !bytes.isEmpty
      ? String(safe.unicodeScalars.dropFirst().dropLast()) : safe
  }

  /// The word that names exactly this namespace: `@"*"` is the namespace `*`, but `@*` means all namespaces.
  package static func namespace(_ name: String) -> String { "@" + typed(Array(name.utf8)) }

  private static func escaped(
    _ bytes: [UInt8], quotes: Bool, hidden: Bool, backslash: Bool = true
  ) -> String {
    // Fast path: nearly every key is printable ASCII.
    if bytes.allSatisfy({ $0.isPrintable && $0 != .doubleQuote && $0 != .backslash }) {
      return String(decoding: bytes, as: UTF8.self)
    }
    var result = ""
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let (character, end) = bytes.character(at: index)
      index = end
      switch character {
      case .byte(let byte): result.append("\\x" + hex(byte))
      case .scalar("\\") where backslash: result.append("\\\\")
      case .scalar("\"") where quotes: result.append("\\\"")
      case .scalar(let scalar) where scalar.isControl || hidden && scalar.isHidden:
        result.append(escape(scalar))
      case .scalar(let scalar): result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// The letters of escapes such as `\n`, each with its byte.
  static let escapes: KeyValuePairs<Unicode.Scalar, UInt8> = [
    "n": .newline, "t": .tab, "r": .carriageReturn, "e": .escape, "0": 0,
  ]

  private static func escape(_ scalar: Unicode.Scalar) -> String {
    guard scalar.isASCII else { return "\\u{" + String(scalar.value, radix: 16) + "}" }
    let byte = UInt8(ascii: scalar)
    return "\\" + (escapes.first { $0.value == byte }.map { String($0.key) } ?? "x" + hex(byte))
  }

  /// The number in hexadecimal, with leading zeros up to the width of the type.
  static func hex<Number: UnsignedInteger & FixedWidthInteger>(_ number: Number) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: Number.bitWidth / 4 - digits.count) + digits
  }

  /// The bytes of a field of `plain` output, with its escapes decoded.
  package static func unescaped(plain line: [UInt8]) throws(ShellError) -> [UInt8] {
    guard line.contains(.backslash) else { return line }
    let lexer = Lexer(text: line)
    var bytes: [UInt8] = []
    var index = 0
    while index < line.count {
      if line[index] == .backslash {
        let (escaped, next) = try lexer.escape(at: index)
        bytes += escaped
        index = next
      } else {
        bytes.append(line[index])
        index += 1
      }
    }
    return bytes
  }
}
