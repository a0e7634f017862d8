import Foundation
import HTTPTypes

extension Reply {
  /// The body as HTML text: by its byte order mark, else the `charset` of its type, else that of a `meta` element, else UTF-8
  /// (the order of the HTML standard). Bytes that are not valid become U+FFFD where the encoding is Unicode.
  public func html() throws(ServiceError) -> String {
    for (mark, encoding) in Self.marks where body.starts(with: mark) {
      return try decoded(body.dropFirst(mark.count), as: encoding, named: "Unicode")
    }
    let label = Self.charset(in: fields[.contentType] ?? "") ?? declared ?? "utf-8"
    guard let encoding = Self.encodings[label.replacing("_", with: "-")] else {
      throw .undecodable(path: path, reason: "its charset \(label) is not known")
    }
    return try decoded(body[...], as: encoding, named: label)
  }

  private static let marks: [([UInt8], String.Encoding)] = [
    ([0xEF, 0xBB, 0xBF], .utf8), ([0xFE, 0xFF], .utf16BigEndian),
    ([0xFF, 0xFE], .utf16LittleEndian),
  ]

  /// Foundation has no name for ISO 8859-15.
  private static let latin9 = String.Encoding(rawValue: 0x8000_020F)

  /// As browsers read them: Latin 1 and ASCII are the Windows encoding. Labels have a hyphen for each underscore.
  private static let encodings: [String: String.Encoding] = [
    "utf-8": .utf8, "utf8": .utf8, "utf-16": .utf16LittleEndian, "utf-16le": .utf16LittleEndian,
    "utf-16be": .utf16BigEndian, "iso-8859-1": .windowsCP1252, "latin1": .windowsCP1252,
    "us-ascii": .windowsCP1252, "ascii": .windowsCP1252, "windows-1252": .windowsCP1252,
    "cp1252": .windowsCP1252, "iso-8859-2": .isoLatin2, "windows-1250": .windowsCP1250,
    "windows-1251": .windowsCP1251, "iso-8859-15": latin9, "latin9": latin9, "shift-jis": .shiftJIS,
    "euc-jp": .japaneseEUC, "iso-2022-jp": .iso2022JP,
  ]

  private func decoded(
    _ bytes: ArraySlice<UInt8>, as encoding: String.Encoding, named label: String
  ) throws(ServiceError) -> String {
    switch encoding {
    case .utf8: return String(decoding: bytes, as: UTF8.self)
    case .utf16BigEndian, .utf16LittleEndian:
      let isBig = encoding == .utf16BigEndian
      let pairs = stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2).map { index in
        let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
        return isBig ? first << 8 | second : second << 8 | first
      }
      return String(decoding: pairs, as: UTF16.self)
    case .windowsCP1252:
      let units = bytes.map {
        (0x80..<0xA0).contains($0) ? Self.windows[Int($0) - 0x80] : UInt16($0)
      }
      return String(decoding: units, as: UTF16.self)
    case Self.latin9:
      return String(decoding: bytes.map { Self.latin9Units[$0] ?? UInt16($0) }, as: UTF16.self)
    default:
      guard let text = String(data: Data(bytes), encoding: encoding) else {
        throw .undecodable(path: path, reason: "it is not \(label)")
      }
      return text
    }
  }

  /// The characters 0x80 to 0x9F of the Windows encoding. Foundation refuses a body with one of the five that have no character,
  /// which browsers read as control characters.
  private static let windows: [UInt16] = [
    0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039,
    0x0152, 0x008D, 0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
    0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178,
  ]

  /// The characters in which ISO 8859-15 differs from Latin 1.
  private static let latin9Units: [UInt8: UInt16] = [
    0xA4: 0x20AC, 0xA6: 0x0160, 0xA8: 0x0161, 0xB4: 0x017D, 0xB8: 0x017E, 0xBC: 0x0152,
    0xBD: 0x0153, 0xBE: 0x0178,
  ]

  /// The charset of a `meta` element at the start. One of UTF-16 is wrong, because the element could be read.
  private var declared: String? {
    let start = String(decoding: body.prefix(1024), as: UTF8.self).lowercased()
    guard let element = start.firstRange(of: "<meta"),
      let label = Self.charset(in: start[element.upperBound...])
    else { return nil }
    return label.hasPrefix("utf-16") ? "utf-8" : label
  }

  /// `text/html; charset="ISO-8859-1"` has `iso-8859-1`.
  private static func charset(in text: some StringProtocol) -> String? {
    let text = text.lowercased()
    guard let name = text.firstRange(of: "charset=") else { return nil }
    let label = text[name.upperBound...].drop { "\"' ".contains($0) }
      .prefix { $0.isLetter || $0.isNumber || "-_:.".contains($0) }
    return label.isEmpty ? nil : String(label)
  }
}
