extension String {
  /// The text for a line of a log, made harmless, because clients and origins choose parts of the line.
  ///
  /// Omits queries of addresses, because a query may hold a secret. Control and format characters become escapes: a person who
  /// reads the log sees the escapes, and a terminal does not obey them.
  var logged: String { withoutQueries.printable }

  /// The text without each part from a `?` to the next space or quote.
  private var withoutQueries: String {
    guard utf8.contains(UInt8(ascii: "?")) else { return self }
    var isInQuery = false
    return String(
      String.UnicodeScalarView(
        unicodeScalars.filter { scalar in
          if isInQuery, scalar.properties.isWhitespace || scalar == "\"" { isInQuery = false }
          if scalar == "?" { isInQuery = true }
          return !isInQuery
        }))
  }

  private var printable: String {
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

  /// The first line of an unreadable request, without a query (even if the query contains spaces) and without the user before a
  /// host.
  var withoutSecrets: String {
    let line = String(unicodeScalars.prefix { $0 != "?" })
    guard let end = line.lastIndex(of: "@") else { return line }
    let start = line[..<end].lastIndex { $0 == "/" || $0 == " " }.map(line.index(after:))
    return "\(line[..<(start ?? line.startIndex)])...\(line[end...])"
  }
}
