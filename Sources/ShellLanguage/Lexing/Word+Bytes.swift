#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Word {
  /// The bytes of the word; those after a bare `hex:` or `b64:` are decoded.
  package func data() throws(ShellError) -> [UInt8] {
    guard isBare else { return bytes }
    if leads(with: "hex:") { return try hexBytes() }
    if leads(with: "b64:") { return try base64Bytes() }
    return bytes
  }

  /// The bytes of a key, which has at least one; a glob character must be quoted here.
  package func key() throws(ShellError) -> [UInt8] {
    let key = try data()
    guard !key.isEmpty else {
      throw ShellError(
        .usage, "\"\" is not a key", at: range, hint: "a key has at least one byte")
    }
    guard isHexOrBase64 || !isGlob else {
      throw ShellError(
        .usage, "expected a key, not a pattern", at: range,
        hint: patternHint)
    }
    return key
  }

  private var patternHint: SafeText {
    let acting: StaticASCII = "*?[{"
    let first = bytes.first { acting.bytes.contains($0) }.map { String(UnicodeScalar($0)) } ?? "*"
    return "quote it if the key contains `\(first)`; `get` and `keys` take patterns"
  }

  package var isHexOrBase64: Bool { isBare && (leads(with: "hex:") || leads(with: "b64:")) }

  private func hexBytes() throws(ShellError) -> [UInt8] {
    let digits = bytes[4...]
    var result: [UInt8] = []
    result.reserveCapacity(digits.count / 2)
    for (index, byte) in zip(digits.indices, digits) {
      guard let value = byte.hexValue else {
        throw ShellError(
          .usage, "\([byte]) is not a hex digit", at: offset(of: index)..<offset(of: index) + 1,
          hint: #"quote the word if it is text: "hex:...""#)
      }
      if index.isMultiple(of: 2) {
        result.append(value << 4)
      } else {
        result[result.count - 1] |= value
      }
    }
    guard digits.count.isMultiple(of: 2) else {
      throw ShellError(
        .usage, "\(bytes) has an odd number of hex digits", at: range,
        hint: "a byte is two hex digits")
    }
    return result
  }

  private func base64Bytes() throws(ShellError) -> [UInt8] {
    guard let data = Data(base64Encoded: Data(bytes[4...])) else {
      throw ShellError(
        .usage, "\(bytes) is not base64", at: range,
        hint: #"the digits are A-Z a-z 0-9 + / and = to fill up; text goes in quotes: "b64:...""#)
    }
    return Array(data)
  }
}
