/// The text forms of keys that a program made from integers and UUIDs: `int:10`, `uuid:...`. The key of an integer is a byte
/// that UTF-8 never uses, then the big-endian bytes. The first byte is 0xF6 (negative) or 0xF7 before 8 bytes, and 0xF5
/// (negative) or 0xF8 before 16 bytes. The key of a UUID is its 16 bytes.
package enum TypedKey {
  static let prefixes = ["int:", "uuid:"]

  /// The text form; nil for bytes that are neither an integer nor a UUID.
  package static func text(of bytes: [UInt8]) -> String? {
    switch bytes.count {
    case 9, 17:
      guard (0xF5...0xF8).contains(bytes[0]) else { return nil }
      let number = bytes.dropFirst().reduce(0 as UInt128) { $0 << 8 | UInt128($1) }
      let signed =
        bytes.count == 9
        ? Int128(Int64(truncatingIfNeeded: number)) : Int128(truncatingIfNeeded: number)
      // A program writes an integer only in its shortest form, so longer forms are not the key of an integer.
      return [String(number), String(signed)].first { integer($0) == bytes }.map { "int:" + $0 }
    case 16:
      let isVersioned = (1...8).contains(bytes[6] >> 4) && bytes[8] >> 6 == 2
      guard isVersioned, String(validating: bytes, as: UTF8.self) == nil else { return nil }
      let digits = bytes.enumerated().map { index, byte in
        ([4, 6, 8, 10].contains(index) ? "-" : "") + Quoting.hex(byte)
      }
      return "uuid:" + digits.joined()
    default: return nil
    }
  }

  /// The key that an unquoted word such as `int:10` means; nil if the word has neither form.
  static func bytes(of word: Word) throws(ShellError) -> [UInt8]? {
    guard word.isBare, let prefix = prefixes.first(where: word.leads) else { return nil }
    let text = String(decoding: word.bytes.dropFirst(prefix.utf8.count), as: UTF8.self)
    let isInteger = prefix == "int:"
    guard let bytes = isInteger ? integer(text) : uuid(text) else {
      let typed = String(decoding: word.bytes, as: UTF8.self)
      throw word.misuse(
        "\(word.bytes) is not \(isInteger ? "an integer" : "a UUID")",
        "quote the word if it is text: \"\(typed)\"",
        forArguments: "text goes behind --: `-- \(typed)`")
    }
    return bytes
  }

  private static func integer(_ text: String) -> [UInt8]? {
    if let number = UInt64(text) { return bytes(0xF7, number) }
    if let number = Int64(text) { return bytes(0xF6, UInt64(bitPattern: number)) }
    if let number = UInt128(text) { return bytes(0xF8, number) }
    return Int128(text).map { bytes(0xF5, UInt128(bitPattern: $0)) }
  }

  private static func bytes(_ mark: UInt8, _ number: some FixedWidthInteger) -> [UInt8] {
    [mark]
      + stride(from: number.bitWidth - 8, through: 0, by: -8)
      .map { UInt8(truncatingIfNeeded: number >> $0) }
  }

  private static func uuid(_ text: String) -> [UInt8]? {
    let isUUID = text.utf8.enumerated().allSatisfy { index, byte in
      [8, 13, 18, 23].contains(index) ? byte == UInt8(ascii: "-") : byte.hexValue != nil
    }
    return isUUID && text.utf8.count == 36 ? text.utf8.hexDecoded : nil
  }
}
