import Foundation
import Service

extension URL {
  /// The absolute URL of an address as browsers read it: escapes stay, and what an address does not allow is escaped.
  ///
  /// Foundation alone escapes `%` too where it escapes anything.
  init?(browsing address: String, relativeTo base: URL? = nil) {
    let scheme = address.prefix { !"/?#".contains($0) }
    var rest = address[...]
    if scheme.isEmpty || scheme.hasSuffix(":"), address[scheme.endIndex...].hasPrefix("//") {
      // A host has letters beyond ASCII in a form of its own.
      rest = address[scheme.endIndex...].dropFirst(2).drop { !"/?#".contains($0) }
    }
    let escaped = address[..<rest.startIndex] + Self.escaped(Array(rest.utf8))
    guard let url = URL(string: String(escaped), relativeTo: base)?.absoluteURL else { return nil }
    self = url
  }

  private static func escaped(_ bytes: [UInt8]) -> String {
    var escaped = ""
    for (place, byte) in bytes.enumerated() {
      let isEscape =
        byte == UInt8(ascii: "%") && bytes.count > place + 2
        && bytes[place + 1...place + 2].allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
      let isAllowed = byte.isAlphanumeric || "-._~:/?#[]@!$&'()*+,;=".utf8.contains(byte)
      escaped +=
        isEscape || isAllowed
        ? String(UnicodeScalar(byte))
        : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
    return escaped
  }
}
