import Foundation
import Larder
import Service

/// The images of a piece of HTML, in their order and without repetitions: the images of `src`, and all candidates of `srcset`.
///
/// The addresses are absolute. Addresses that are not HTTP are omitted, such as `data:` URLs. The HTML may be malformed.
/// Comments and scripts are treated like other HTML, because the service removes comments and scripts from articles.
enum ImageAddresses {
  /// - Parameter address: The URL of the HTML, which is the base URL of relative addresses.
  static func all(in html: String, from address: String) -> [String] {
    let name = /[a-zA-Z][a-zA-Z0-9]*/
    // A name, which may begin with a wrong `=`, and a value: in double quotes, in single quotes, or without quotes.
    let attribute = /[\s\/]*(=?[^\s=\/>]*)(?:\s*=\s*(?:"([^"]*)"?|'([^']*)'?|([^\s>]*)))?/
    // An address of a `srcset`. A comma ends it after a descriptor such as `2x`, or at the end of the address, but not within.
    let candidate = /([^\s,](?:\S*[^\s,])?)(?:,+|\s[^,]*)?/
    var found: [String] = []
    var rest = html[...]
    while let start = rest.firstIndex(of: "<") {
      rest = rest[start...].dropFirst()
      guard let tag = rest.prefixMatch(of: name) else { continue }
      rest = rest[tag.range.upperBound...]
      while let next = rest.prefixMatch(of: attribute), !next.0.isEmpty {
        rest = rest[next.range.upperBound...]
        let value = next.2 ?? next.3 ?? next.4 ?? ""
        switch (tag.output.lowercased(), next.1.lowercased()) {
        case ("img", "src"): found.append(resolved(value))
        case ("img", "srcset"), ("source", "srcset"):
          found += resolved(value).matches(of: candidate).map { String($0.1) }
        default: break
        }
      }
    }
    let base = URL(string: address)
    var seen: Set<String> = []
    return found.compactMap { absolute($0, base) }.filter { seen.insert($0).inserted }
  }

  /// The absolute address without its fragment, because all fragments belong to one image. Nil if it is not HTTP or is too long.
  private static func absolute(_ text: String, _ base: URL?) -> String? {
    let text = text.trimmingBlanks
    // A host with letters outside ASCII needs another encoding than escapes, so this code escapes only the part after the host.
    let host = text.prefixMatch(of: /([^\/?#]*:)?\/\/[^\/?#]*/)?.output.0 ?? ""
    // As in browsers, escapes stay, and characters that an address must not contain (RFC 3986, 2.2) become escapes. Foundation
    // would also escape the `%` of existing escapes if it had to escape any other character.
    let rest = text.dropFirst(host.count).replacing(
      /%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~:\/?#\[\]@!$&'()*+,;=%]/
    ) { String($0.output).percentEscaped }
    guard !text.isEmpty, let url = URL(string: String(host + rest), relativeTo: base)?.absoluteURL,
      ["http", "https"].contains(url.scheme?.lowercased()), url.host() != nil
    else { return nil }
    let address = String(url.absoluteString.prefix { $0 != "#" })
    return address.utf8.count <= Key.longest ? address : nil
  }

  /// The text with character references decoded, such as `&amp;` and `&#x26;`. An unknown name, as in `&b;`, stays.
  private static func resolved(_ text: Substring) -> String {
    let named: [Substring: String] = ["amp": "&", "quot": "\"", "apos": "'", "lt": "<", "gt": ">"]
    return String(text).replacing(
      /&(?:#[xX]([0-9a-fA-F]{1,6})|#([0-9]{1,7})|([a-z]{2,4}));/
    ) { match in
      let code = match.1.flatMap { UInt32($0, radix: 16) } ?? match.2.flatMap { UInt32($0) }
      return code.flatMap { Unicode.Scalar($0) }.map { String($0) }
        ?? match.3.flatMap { named[$0] } ?? String(match.0)
    }
  }
}
