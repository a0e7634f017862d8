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
    let escaped = address[..<rest.startIndex] + Self.escaped(rest)
    guard let url = URL(string: String(escaped), relativeTo: base)?.absoluteURL else { return nil }
    self = url
  }

  /// Punctuation that an address may have (RFC 3986, 2.2), and the beginning of an escape.
  private static let punctuation = "-._~:/?#[]@!$&'()*+,;=%".unicodeScalars

  private static func escaped(_ text: Substring) -> String {
    text.replacing(/%(?![0-9A-Fa-f]{2})/, with: "%25").unicodeScalars.map { scalar in
      punctuation.contains(scalar) ? "\(scalar)" : "\(scalar)".percentEscaped
    }.joined()
  }
}
