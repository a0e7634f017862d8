import LarderSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A word of a command. Bytes without quotes and escapes are bare. Only a bare dash, star or keyword has its special meaning.
package struct Word: Sendable, Hashable {
  /// A run of bytes that are all bare or all quoted.
  package struct Piece: Sendable, Hashable {
    package var range: Range<Int>
    package var isBare: Bool
    /// The offset of the piece in the text of the command. For a bare piece, the text has the same bytes at this offset.
    package var offset: Int
  }

  package internal(set) var bytes: [UInt8]
  package var pieces: [Piece]
  /// The range of the word in the text of the command, with quotes.
  package internal(set) var range: Range<Int>

  /// The text of the word, for a comparison with keywords; nil if a part is quoted, or if the bytes are not UTF-8.
  package var bareText: String? { isBare ? String(validating: bytes, as: UTF8.self) : nil }

  package var isBare: Bool { pieces.allSatisfy(\.isBare) }

  package var bareCount: Int { pieces.first.map { $0.isBare ? $0.range.upperBound : 0 } ?? 0 }

  package func leads(with prefix: String) -> Bool {
    bareCount >= prefix.utf8.count && bytes.starts(with: prefix.utf8)
  }

  /// The offset of a byte in the text of the command. For a quoted byte, the offset of the piece with the byte.
  package func offset(of index: Int) -> Int {
    guard let piece = pieces.first(where: { $0.range.contains(index) }) else {
      return range.upperBound
    }
    return piece.isBare ? piece.offset + index - piece.range.lowerBound : piece.offset
  }

  /// The place of a range of bytes in the text of the command; of the whole word if escapes, pieces or a variable moved the bytes.
  func place(of inner: Range<Int>) -> Range<Int> {
    let quotes = isBare ? 0 : 1
    guard pieces.count == 1, pieces[0].offset == range.lowerBound,
      range.count == bytes.count + 2 * quotes
    else { return range }
    let start = range.lowerBound + quotes
    return start + inner.lowerBound..<start + max(inner.upperBound, inner.lowerBound + 1)
  }

  /// The word without its first `count` bytes, which must be bare.
  package func dropping(_ count: Int) -> Word {
    var rest = Word(
      bytes: Array(bytes[count...]), pieces: [],
      range: min(range.lowerBound + count, range.upperBound)..<range.upperBound)
    for piece in pieces where piece.range.upperBound > count || piece.range.isEmpty {
      let start = max(piece.range.lowerBound, count)
      rest.pieces.append(
        Piece(
          range: start - count..<piece.range.upperBound - count, isBare: piece.isBare,
          offset: piece.isBare ? piece.offset + start - piece.range.lowerBound : piece.offset))
    }
    return rest
  }

  /// The bytes of the word. After a bare `hex:` or `b64:`, the bytes that the rest of the word encodes.
  package func data() throws(ShellError) -> [UInt8] {
    guard isHexOrBase64 else { return bytes }
    let digits = bytes[4...]
    if leads(with: "b64:") {
      guard let data = Data(base64Encoded: Data(digits)) else {
        throw misuse(
          "\(bytes) is not base64",
          #"the digits are A-Z a-z 0-9 + / and = to fill up; text goes in quotes: "b64:...""#,
          forArguments:
            "the digits are A-Z a-z 0-9 + / and = to fill up; text goes behind --: `-- b64:...`")
      }
      return Array(data)
    }
    if let wrong = digits.firstIndex(where: { $0.hexValue == nil }) {
      throw ShellError(
        .usage, "\([bytes[wrong]]) is not a hex digit",
        at: offset(of: wrong)..<offset(of: wrong) + 1,
        hint: #"quote the word if it is text: "hex:...""#,
        hintForArguments: "text goes behind --: `-- hex:...`")
    }
    guard digits.count.isMultiple(of: 2) else {
      throw misuse("\(bytes) has an odd number of hex digits", "a byte is two hex digits")
    }
    return digits.hexDecoded
  }

  /// The bytes of a key, at least one byte. Throws if the word has an unquoted glob character.
  package func key() throws(ShellError) -> [UInt8] {
    if let key = try TypedKey.bytes(of: self) { return key }
    let key = try data()
    guard !key.isEmpty else { throw misuse("\"\" is not a key", "a key has at least one byte") }
    guard isHexOrBase64 || !isGlob else {
      let first = bytes.first(where: Self.isActing).map { String(UnicodeScalar($0)) } ?? "*"
      throw misuse(
        "expected a key, not a pattern",
        "quote it if the key contains `\(first)`; `get` and `keys` take patterns",
        forArguments:
          "a key that contains `\(first)` goes behind --; `get` and `keys` take patterns")
    }
    return key
  }

  /// Whether a bare part of the word has a character that begins a pattern, such as `*`.
  package var isGlob: Bool {
    pieces.contains { $0.isBare && bytes[$0.range].contains(where: Self.isActing) }
  }

  private static func isActing(_ byte: UInt8) -> Bool { "*?[{".utf8.contains(byte) }

  package var isHexOrBase64: Bool { isBare && (leads(with: "hex:") || leads(with: "b64:")) }

  func misuse(_ message: SafeText, _ hint: SafeText, forArguments: SafeText? = nil) -> ShellError {
    ShellError(.usage, message, at: range, hint: hint, hintForArguments: forArguments)
  }
}

extension UInt8 {
  package static let tab = UInt8(ascii: "\t")
  package static let newline = UInt8(ascii: "\n")
  package static let carriageReturn = UInt8(ascii: "\r")
  package static let escape: UInt8 = 0x1B
  package static let space = UInt8(ascii: " ")
  package static let quote = UInt8(ascii: "'")
  package static let doubleQuote = UInt8(ascii: "\"")
  package static let backslash = UInt8(ascii: "\\")

  package var isPrintable: Bool { (0x20...0x7E).contains(self) }
  package var isPunctuation: Bool { (0x21...0x7E).contains(self) && !isDigit && !isLetter }

  package var hexValue: UInt8? {
    switch lowercased {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): lowercased - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}

extension [UInt8] { var base64: String { Data(self).base64EncodedString() } }

extension Sequence<UInt8> {
  /// The bytes that pairs of hexadecimal digits encode. Other characters are ignored.
  var hexDecoded: [UInt8] {
    let digits = compactMap(\.hexValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }
}
