import HTTPTypes

/// The members of a comma-separated field, over all its lines (RFC 9110, 5.6.1).
///
/// Commas within quoted strings do not part members; a string that does not end does with its line. Empty members are
/// left out, as are spaces and tabs around each.
func fieldMembers(_ lines: [String]) -> [Substring] {
  var members: [Substring] = []
  for line in lines {
    var start = line.startIndex
    var isQuoted = false
    var isEscaped = false
    for index in line.utf8.indices {
      let byte = line.utf8[index]
      if isEscaped {
        isEscaped = false
      } else if isQuoted, byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        isQuoted.toggle()
      } else if byte == UInt8(ascii: ","), !isQuoted {
        members.append(line[start..<index].trimmed)
        start = line.utf8.index(after: index)
      }
    }
    members.append(line[start...].trimmed)
  }
  return members.filter { !$0.isEmpty }
}

extension HTTPFields {
  func members(of name: HTTPField.Name) -> [Substring] { fieldMembers(lines(of: name)) }
}

extension Substring {
  /// Without the spaces and tabs around it.
  var trimmed: Substring {
    var bytes = utf8
    while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
    while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
    return Substring(bytes)
  }

  /// The text of a quoted string (RFC 9110, 5.6.4); nil for other text.
  var unquoted: String? {
    guard utf8.count >= 2, utf8.first == UInt8(ascii: "\""), utf8.last == UInt8(ascii: "\"") else {
      return nil
    }
    var bytes: [UInt8] = []
    var isEscaped = false
    for byte in utf8.dropFirst().dropLast() {
      if !isEscaped, byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if !isEscaped, byte == UInt8(ascii: "\"") {
        return nil
      } else {
        bytes.append(byte)
        isEscaped = false
      }
    }
    return isEscaped ? nil : String(decoding: bytes, as: UTF8.self)
  }
}

extension String {
  var trimmed: Substring { self[...].trimmed }
}
