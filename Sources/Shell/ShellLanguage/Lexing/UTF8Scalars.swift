/// A character of a text that need not be valid UTF-8.
package enum Character32: Hashable, Sendable {
  case scalar(Unicode.Scalar)
  /// A byte that is not a part of valid UTF-8.
  case byte(UInt8)
}

extension RandomAccessCollection<UInt8> where Index == Int {
  /// The lines, without their newlines; after a final newline there is an empty line.
  package var lines: [SubSequence] { split(separator: .newline, omittingEmptySubsequences: false) }

  /// The scalar that begins at `index`, and its end; nil if no valid UTF-8 begins there.
  package func scalar(at index: Int) -> (scalar: Unicode.Scalar, end: Int)? {
    let first = self[index]
    if first < 0x80 { return (Unicode.Scalar(first), index + 1) }
    let (count, mask): (Int, UInt8) =
      switch first {
      case 0xC2..<0xE0: (2, 0x1F)
      case 0xE0..<0xF0: (3, 0x0F)
      case 0xF0..<0xF5: (4, 0x07)
      default: (0, 0)
      }
    guard count > 0, index + count <= endIndex else { return nil }
    var value = UInt32(first & mask)
    for next in index + 1..<index + count {
      guard self[next] & 0xC0 == 0x80 else { return nil }
      value = value << 6 | UInt32(self[next] & 0x3F)
    }
    // Overlong forms and surrogates are not UTF-8.
    guard count < 3 || value >= (count == 3 ? 0x800 : 0x10000) else { return nil }
    return Unicode.Scalar(value).map { ($0, index + count) }
  }

  /// The character at `index`, and its end; a single byte if no valid UTF-8 begins there.
  package func character(at index: Int) -> (character: Character32, end: Int) {
    if let (scalar, end) = scalar(at: index) { return (.scalar(scalar), end) }
    return (.byte(self[index]), index + 1)
  }
}

extension Unicode.Scalar {
  /// Whether the scalar is a control character (C0, DEL or C1), which a terminal may obey.
  package var isControl: Bool { value < 0x20 || (0x7F...0x9F).contains(value) }

  package var lowercased: Unicode.Scalar { single(properties.lowercaseMapping) }
  package var uppercased: Unicode.Scalar { single(properties.uppercaseMapping) }

  /// The form if it is one scalar, otherwise the scalar itself.
  private func single(_ form: String) -> Unicode.Scalar {
    form.unicodeScalars.count == 1 ? form.unicodeScalars.first ?? self : self
  }

  /// Whether the scalar is invisible or reorders text. Variation selectors do not count, because emoji need them.
  package var isHidden: Bool {
    switch value {
    case 0x20..<0x7F, 0xA0..<0xAD, 0xAE..<0x300, 0xFE00...0xFE0F: return false
    default: break
    }
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: return true
    default: return properties.isDefaultIgnorableCodePoint
    }
  }
}
