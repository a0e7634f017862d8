import LarderSystem

/// The values that `--arg` and `--argjson` give to `:name`.
package struct Variables: Sendable, Hashable {
  struct Value: Sendable, Hashable {
    let bytes: [UInt8]
    /// Whether the bytes are JSON text. Otherwise the bytes are a quoted word, or a string in an expression.
    let isJSON: Bool
  }

  private(set) var values: [String: Value] = [:]

  package init() {}

  package mutating func define(_ definition: [UInt8], isJSON: Bool) throws(ShellError) {
    let option: SafeText = isJSON ? "--argjson" : "--arg"
    guard let equals = definition.firstIndex(of: UInt8(ascii: "=")),
      Self.isName(definition[..<equals])
    else {
      throw ShellError(
        .usage, "\(option) takes NAME=VALUE, not \(definition)",
        hint: "NAME is letters, digits and _: \(option) k=VALUE")
    }
    let name = String(decoding: definition[..<equals], as: UTF8.self)
    let value = Array(definition[(equals + 1)...])
    if isJSON, let error = JSONText.error(in: value) {
      throw ShellError(
        .badJSON,
        "\(error.isDepth ? "the" : "invalid") JSON in --argjson \(name): \(error.reason)",
        hint: "--arg \(name)=VALUE passes text")
    }
    values[name] = Value(bytes: value, isJSON: isJSON)
  }

  /// The word, with the value in place of `:name` in `:name`, `@:name` and `--option=:name`.
  func replacing(_ word: Word) throws(ShellError) -> Word {
    guard word.isBare, let start = word.bytes.lastIndex(of: UInt8(ascii: ":")) else { return word }
    let lead = word.bytes[..<start]
    let isOption =
      lead.starts(with: "--".utf8) && lead.firstIndex(of: UInt8(ascii: "=")) == start - 1
    guard lead.isEmpty || lead.elementsEqual("@".utf8) || isOption,
      Self.isName(word.bytes[(start + 1)...])
    else { return word }
    let name = String(decoding: word.bytes[(start + 1)...], as: UTF8.self)
    guard let value = values[name] else {
      throw ShellError(
        .undefinedArgument, "no value for :\(name)", at: word.range,
        hint: "pass `--arg \(name)=VALUE`, or quote \":\(name)\" if it is a key",
        hintForArguments: "pass `--arg \(name)=VALUE` before the store; a key goes behind --")
    }
    var result = Word(Array(lead), isBare: true, at: word.range)
    result.pieces.append(
      .init(
        range: start..<start + value.bytes.count, isBare: false, offset: word.range.lowerBound))
    result.bytes += value.bytes
    return result
  }

  /// Whether the bytes are a valid name: `[A-Za-z_][A-Za-z0-9_]*`.
  package static func isName(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.first?.isDigit == false
      && bytes.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") }
  }
}

extension Word {
  package init(_ bytes: [UInt8], isBare: Bool, at range: Range<Int>) {
    self.init(
      bytes: bytes, pieces: [Piece(range: bytes.indices, isBare: isBare, offset: range.lowerBound)],
      range: range)
  }

  var quoted: Word { Word(bytes, isBare: false, at: range) }
}
