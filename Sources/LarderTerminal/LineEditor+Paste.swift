import CEditline

extension LineEditor {
  /// The terminal encloses pasted text in marks, so that a newline in it runs nothing.
  enum PasteMode {
    static let on = "\u{1B}[?2004h"
    static let off = "\u{1B}[?2004l"
    static let end = "\u{1B}[201~"
  }

  /// Takes everything up to the end mark as text, whatever keys it may look like.
  func paste() throws(TerminalError) -> Int32 {
    var text = String.UnicodeScalarView()
    let end = Array(PasteMode.end.unicodeScalars)
    while text.count < end.count || !text.suffix(end.count).elementsEqual(end) {
      guard let scalar = try nextScalar() else { return CC_EOF }
      text.append(scalar)
    }
    text.removeLast(end.count)
    return insert(Self.pasted(String(text))) ? CC_REFRESH : CC_ERROR
  }

  /// Terminals send Return for a newline. The last one is left out, so that the cursor stays behind the text;
  /// control characters other than tab would only disturb the screen.
  static func pasted(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\r", "\n": scalars.append("\n")
      case "\t": scalars.append(scalar)
      default: if scalar.properties.generalCategory != .control { scalars.append(scalar) }
      }
    }
    if scalars.last == "\n" { scalars.removeLast() }
    return String(scalars)
  }
}
