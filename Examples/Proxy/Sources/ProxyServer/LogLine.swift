extension String {
  /// The text with its control and format characters as escapes: whoever reads a log sees them, and they do nothing to a
  /// terminal.
  ///
  /// Clients and origins choose parts of a line.
  var printable: String {
    if utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return self }
    var text = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator:
        text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars
      default: text.append(scalar)
      }
    }
    return String(text)
  }
}
