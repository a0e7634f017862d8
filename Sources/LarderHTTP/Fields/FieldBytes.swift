public import HTTPTypes

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension HTTPField {
  /// The bytes of the value, which may be invalid UTF-8.
  public var valueBytes: [UInt8] {
    // A value with invalid UTF-8 shows replacement characters. Only its coding, as Latin-1, has the bytes.
    guard value.hasReplacement, let latin = latinValue else {
      return Array(value.utf8)
    }
    return latin.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
  }

  /// The value as text. Different bytes give different texts: invalid bytes become private-use characters.
  var faithfulText: String {
    let bytes = valueBytes
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    var text = ""
    for byte in bytes {
      text.unicodeScalars.append(
        byte < 0x80
          ? Unicode.Scalar(byte) : Unicode.Scalar(0xF700 + UInt32(byte)) ?? "\u{FFFD}")
    }
    return text
  }

  private struct Coded: Decodable { var value: String }

  private var latinValue: String? {
    guard let coded = try? JSONEncoder().encode(self) else { return nil }
    return (try? JSONDecoder().decode(Coded.self, from: coded))?.value
  }
}

extension HTTPFields {
  /// The values of a name line by line, so that they can be compared byte for byte.
  func lines(of name: HTTPField.Name) -> [String] {
    let values = self[values: name]
    return values.contains(where: \.hasReplacement)
      ? self[fields: name].map(\.faithfulText) : values
  }
}

extension String {
  /// Whether a replacement character is there, which may stand for invalid UTF-8. Nearly all values are ASCII.
  fileprivate var hasReplacement: Bool {
    utf8.contains(0xEF) && unicodeScalars.contains("\u{FFFD}")
  }
}
