/// A character of a text that need not be valid UTF-8.
package enum Character32: Hashable, Sendable {
  case scalar(Unicode.Scalar)
  /// A byte that is not a part of valid UTF-8.
  case byte(UInt8)
}

extension RandomAccessCollection<UInt8> where Index == Int {
  /// The lines, without their newlines. After a final newline, the last line is empty.
  package var lines: [SubSequence] { split(separator: .newline, omittingEmptySubsequences: false) }

  /// The character at `index`, and its end; a single byte if no valid UTF-8 begins there.
  package func character(at index: Int) -> (character: Character32, end: Int) {
    if self[index] < 0x80 { return (.scalar(Unicode.Scalar(self[index])), index + 1) }
    var parser = Unicode.UTF8.ForwardParser()
    var bytes = self[index...].makeIterator()
    guard case .valid(let scalar) = parser.parseScalar(from: &bytes) else {
      return (.byte(self[index]), index + 1)
    }
    return (.scalar(Unicode.UTF8.decode(scalar)), index + scalar.count)
  }
}

extension Unicode.Scalar {
  /// Whether the scalar is a control character (C0, DEL or C1), on which a terminal may act.
  package var isControl: Bool { value < 0x20 || (0x7F...0x9F).contains(value) }

  package var lowercased: Unicode.Scalar { single(properties.lowercaseMapping) }
  package var uppercased: Unicode.Scalar { single(properties.uppercaseMapping) }

  private func single(_ form: String) -> Unicode.Scalar {
    form.unicodeScalars.count == 1 ? form.unicodeScalars.first ?? self : self
  }

  /// Whether the scalar is invisible or reorders text. Variation selectors are not hidden, because emoji need the selectors.
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
