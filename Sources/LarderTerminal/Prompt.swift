/// The prompt: a name, colored where colors are on, and a plain tail.
package struct Prompt: Equatable, Sendable {
  /// The coloured part; may be empty.
  package let name: String

  /// The plain part. Never empty: libedit drops a colour reset that no visible character follows.
  package let tail: String

  /// - Parameters:
  ///   - name: The colored part, without control characters.
  ///   - tail: The plain part, such as `"> "`; a space stands in for an empty one.
  package init(_ name: String, tail: String = "> ") {
    self.name = Self.visible(name)
    let tail = Self.visible(tail)
    self.tail = tail.isEmpty ? " " : tail
  }

  /// The prompt without colour.
  package var text: String { name + tail }

  /// The prompt with its colour, each sequence between two marks.
  func coloured(mark: Character) -> String {
    guard !name.isEmpty else { return tail }
    return "\(mark)\u{1B}[1;36m\(mark)\(name)\(mark)\u{1B}[0m\(mark)\(tail)"
  }

  private static func visible(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.filter { $0.properties.generalCategory != .control }))
  }
}

/// The result of reading a line, at the prompt or from a pipe.
package enum LineResult: Equatable, Sendable {
  /// A line without its end. Bytes from a pipe are as they came: NUL, CR and broken UTF-8 included.
  case line([UInt8])

  /// ^C was pressed: the typed text is dropped.
  case interrupted

  /// ^D on an empty line, or the end of the input.
  case end
}
