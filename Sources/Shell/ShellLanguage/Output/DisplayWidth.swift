/// The number of columns that text takes in a terminal, by the rules of `wcwidth`, which terminals follow.
package enum DisplayWidth {
  package static func of(_ text: some StringProtocol) -> Int {
    text.unicodeScalars.reduce(0) { $0 + of($1) }
  }

  package static func of(_ scalar: Unicode.Scalar) -> Int {
    let value = scalar.value
    if (0x20..<0x7F).contains(value) { return 1 }
    if value < 0xA0 { return 0 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .control, .lineSeparator, .paragraphSeparator: return 0
    case .format where value != 0xAD: return 0
    default: break
    }
    // A terminal draws a vowel or a final consonant of Hangul into the syllable before it, so such a letter has the width 0.
    if (0x1160...0x11FF).contains(value) { return 0 }
    return scalar.properties.isEmojiPresentation && !(0x1F1E6...0x1F1FF).contains(value)
      || wide.contains(where: { $0.contains(value) }) ? 2 : 1
  }

  /// The ranges of wide characters (East Asian Wide and Fullwidth), without emoji.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F,
    0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60,
    0xFFE0...0xFFE6, 0x16FE0...0x18CFF, 0x1AFF0...0x1B2FF, 0x1D300...0x1D376, 0x1F200...0x1F265,
    0x1F300...0x1F320, 0x1F3FB...0x1F3FF, 0x20000...0x2FFFD, 0x30000...0x3FFFD,
  ]

  /// The text if it fits. Otherwise the longest beginning that fits together with `mark`.
  package static func fit(_ text: String, to width: Int, mark: String) -> String {
    guard of(text) > width else { return text }
    return prefix(of: text, columns: width - of(mark)) + (of(mark) <= width ? mark : "")
  }

  /// The text, without its middle if the text does not fit, such as `lego.pa...olors`. Names often differ only at the end.
  package static func fitEnds(_ text: String, to width: Int, mark: String) -> String {
    guard of(text) > width, width > 4 else { return fit(text, to: width, mark: mark) }
    let room = width - of(mark)
    return prefix(of: text, columns: (room + 1) / 2) + mark + suffix(of: text, columns: room / 2)
  }

  /// The longest prefix of at most `columns` columns that does not end within an escape.
  package static func prefix(of text: String, columns: Int) -> String {
    let scalars = text.unicodeScalars
    var used = 0
    var end = scalars.startIndex
    while end < scalars.endIndex {
      let next = endOfPart(scalars, from: end)
      used += scalars[end..<next].reduce(0) { $0 + of($1) }
      guard used <= columns else { break }
      end = next
    }
    return String(scalars[..<end])
  }

  /// The longest suffix of at most `columns` columns that does not begin within an escape.
  package static func suffix(of text: String, columns: Int) -> String {
    let scalars = text.unicodeScalars
    var left = of(text)
    var start = scalars.startIndex
    while left > columns, start < scalars.endIndex {
      let next = endOfPart(scalars, from: start)
      left -= scalars[start..<next].reduce(0) { $0 + of($1) }
      start = next
    }
    // A combining mark must follow its character, so the suffix does not begin with a mark.
    return String(scalars[start...].drop { of($0) == 0 })
  }

  /// The end of the part at `start`. A part is a scalar, or an escape such as `\x1b`, `\u{202e}` or `\u001b`; no part is cut.
  private static func endOfPart(
    _ scalars: String.UnicodeScalarView, from start: String.Index
  ) -> String.Index {
    var end = scalars.index(after: start)
    guard scalars[start] == "\\", end < scalars.endIndex else { return end }
    let kind = scalars[end]
    end = scalars.index(after: end)
    switch kind {
    case "u" where scalars[end...].first == "{":
      let digits = scalars[end...].dropFirst().prefix(7).prefix(while: \.properties.isASCIIHexDigit)
      guard digits.endIndex < scalars.endIndex, scalars[digits.endIndex] == "}" else { return end }
      return scalars.index(after: digits.endIndex)
    case "x", "u":
      let digits = scalars[end...].prefix(kind == "x" ? 2 : 4)
      return digits.allSatisfy(\.properties.isASCIIHexDigit) ? digits.endIndex : end
    default: return end
    }
  }

  package static func pad(_ text: String, to width: Int, isRight: Bool = false) -> String {
    let space = String(repeating: " ", count: max(width - of(text), 0))
    return isRight ? space + text : text + space
  }

  /// Indented lines, each with a word and its explanation. If `width` is nil, the widest word decides the width.
  static func list(_ rows: [(word: String, text: String)], width: Int? = nil) -> String {
    let width = width ?? rows.map { of($0.word) }.max() ?? 0
    return rows.map { "  \(pad($0.word, to: width))  \($0.text)\n" }.joined()
  }

  /// Wraps lines of one or two columns at spaces. The rest of a wrapped text is below its column if the column is wide enough.
  package static func wrapColumns(_ text: String, columns: Int?) -> String {
    guard let columns else { return text }
    return joinParagraphs(text, widerThan: columns).map { line in
      guard of(line) > columns else { return line }
      let lead = line.prefix { $0 == " " }.count
      let gap = line.dropFirst(lead).firstRange(of: "  ")
      let second = gap.map {
        of(line[..<$0.lowerBound]) + line[$0.lowerBound...].prefix { $0 == " " }.count
      }
      // If the second column does not fit after a long first column, the whole second column goes to the next line.
      if let gap, let second, second > columns / 2, of(line[..<gap.lowerBound]) <= columns {
        let rest =
          String(repeating: " ", count: lead + 4) + line[gap.upperBound...].drop { $0 == " " }
        return String(line[..<gap.lowerBound]) + "\n"
          + wrap(rest, columns: columns, indent: lead + 6)
      }
      let indent = second.flatMap { $0 <= columns / 2 ? $0 : nil } ?? lead + 4
      return wrap(line, columns: columns, indent: indent)
    }.joined(separator: "\n")
  }

  /// The lines of a text. A paragraph that does not fit becomes one line, because its line breaks are for wider windows.
  private static func joinParagraphs(_ text: String, widerThan columns: Int) -> [String] {
    func isProse(_ line: Substring) -> Bool {
      !line.isEmpty && line.first != " " && !line.contains("  ")
    }
    var lines: [String] = []
    var rest = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
    while let line = rest.first {
      let paragraph = rest.prefix(while: isProse)
      if paragraph.count > 1, paragraph.contains(where: { of($0) > columns }) {
        lines.append(paragraph.joined(separator: " "))
        rest = rest.dropFirst(paragraph.count)
      } else {
        lines.append(String(line))
        rest = rest.dropFirst()
      }
    }
    return lines
  }

  /// Wraps lines at spaces, and indents the lines that continue. For fewer than 11 columns after the indent, changes nothing.
  package static func wrap(_ text: String, columns: Int?, indent: Int) -> String {
    guard let columns, columns > indent + 10 else { return text }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      guard of(line) > columns else { return String(line) }
      let margin = String(repeating: " ", count: indent)
      var result = ""
      var words = line.split(separator: " ", omittingEmptySubsequences: false)
      var current = String(words.removeFirst())
      for word in words {
        let next = current + " " + word
        if of(next) > columns, !current.allSatisfy({ $0 == " " }) {
          result += current + "\n"
          current = margin + word
        } else {
          current = next
        }
      }
      return result + current
    }
    return lines.joined(separator: "\n")
  }
}
