extension Lexer {
  /// `{"`, `{}`, `["`, `[{`, `[[` and `[]` begin a JSON value; `{a,b}` and `[a-z]` are patterns.
  func beginsJSON(at index: Int) -> Bool {
    guard let next = text[(index + 1)...].first(where: { $0 != .space && $0 != .tab }) else {
      return true
    }
    let follows: StaticASCII = text[index] == UInt8(ascii: "{") ? "\"}" : "\"{[]"
    return follows.bytes.contains(next)
  }

  /// Takes a JSON value byte for byte up to its closing bracket, and checks it there.
  mutating func scanJSON(at index: Int) throws(ShellError) -> Int {
    guard let end = json.end(in: text, from: index) else {
      append(text[index...], isBare: false, at: index)
      return text.count
    }
    append(text[index..<end], isBare: false, at: index)
    let start = open?.offset ?? index
    open = nil
    do throws(JSONText.Flaw) {
      _ = try JSONText(Array(text[start..<end]))
    } catch {
      let place = min(start + error.offset, end - 1)
      throw ShellError(
        .badJSON, "invalid JSON: \(error.reason)", at: place..<place + 1,
        hint: "quote the word if it is not JSON")
    }
    return end
  }
}

/// Finds the end of a JSON value by its brackets, across lines.
struct JSONBalance {
  private var depth = 0
  private var isInString = false
  private var isEscaped = false

  /// The offset behind the bracket that closes the value; nil if it is not in this text.
  mutating func end(in text: [UInt8], from start: Int) -> Int? {
    for index in start..<text.count {
      let byte = text[index]
      if isInString {
        if isEscaped {
          isEscaped = false
        } else if byte == .backslash {
          isEscaped = true
        } else if byte == .doubleQuote {
          isInString = false
        }
        continue
      }
      switch byte {
      case .doubleQuote: isInString = true
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        if depth == 0 { return index + 1 }
      default: break
      }
    }
    return nil
  }
}
