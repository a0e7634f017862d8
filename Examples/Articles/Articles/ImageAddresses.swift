import Foundation
import Larder
import Service

/// The images of a piece of HTML: the images of `src` and all candidates of `srcset`, in their order, each once.
///
/// Addresses are absolute. Schemes other than HTTP are left out, such as `data:` URLs. The HTML may be malformed.
enum ImageAddresses {
  /// - Parameter address: the URL of the HTML, the base of relative addresses.
  static func all(in html: String, from address: String) -> [String] {
    let opening = /<([a-zA-Z][a-zA-Z0-9]*)/
    // A name, which a stray `=` may begin, and a value: in quotes of either kind, or without quotes.
    let attribute = /[\s\/]*(=?[^\s=\/>]*)(?:\s*=\s*(?:"([^"]*)"?|'([^']*)'?|([^\s>]*)))?/
    var found: [String] = []
    var rest = html[...]
    while let start = rest.firstIndex(of: "<") {
      rest = rest[start...]
      guard let name = rest.prefixMatch(of: opening) else {
        rest = rest.hasPrefix("<!--") ? rest.behind("-->") : rest.dropFirst()
        continue
      }
      let tag = name.1.lowercased()
      rest = rest[name.range.upperBound...]
      while let next = rest.prefixMatch(of: attribute), !next.0.isEmpty {
        rest = rest[next.range.upperBound...]
        let value = next.2 ?? next.3 ?? next.4 ?? ""
        switch (tag, next.1.lowercased()) {
        case ("img", "src"): found.append(resolved(value))
        case ("img", "srcset"), ("source", "srcset"): found += candidates(of: resolved(value))
        default: break
        }
      }
      // The content of these elements is text.
      let isRaw = ["script", "style", "textarea", "title", "iframe"].contains(tag)
      if isRaw { rest = rest.behind("</" + tag) }
    }
    let base = URL(string: address)
    var seen: Set<String> = []
    return found.compactMap { absolute($0, base) }.filter { seen.insert($0).inserted }
  }

  /// The addresses of a `srcset`. A comma ends a candidate after its descriptor, or after an address without a descriptor; any
  /// other comma is part of the address.
  private static func candidates(of set: String) -> [String] {
    var addresses: [String] = []
    var rest = Substring(set)
    while true {
      rest = rest.drop { $0.isWhitespace || $0 == "," }
      guard !rest.isEmpty else { return addresses }
      var address = rest.prefix { !$0.isWhitespace }
      rest = rest[address.endIndex...]
      if !address.hasSuffix(",") { rest = rest.drop { $0 != "," } }
      while address.hasSuffix(",") { address.removeLast() }
      addresses.append(String(address))
    }
  }

  /// The absolute address without its fragment, which is no part of the resource; nil for schemes other than HTTP, and for
  /// an address that is too long.
  private static func absolute(_ text: String, _ base: URL?) -> String? {
    let text = text.trimmingBlanks
    // Letters beyond ASCII in a host have an encoding of their own.
    let host = text.prefixMatch(of: /([^\/?#]*:)?\/\/[^\/?#]*/)?.output.0 ?? ""
    // As in browsers, escapes stay, and characters that may not be in an address (RFC 3986, 2.2) become escapes. Foundation
    // alone would also escape `%` if it escapes anything.
    let rest = text.dropFirst(host.count).replacing(
      /%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~:\/?#\[\]@!$&'()*+,;=%]/
    ) { String($0.output).percentEscaped }
    guard !text.isEmpty, let url = URL(string: String(host + rest), relativeTo: base)?.absoluteURL,
      ["http", "https"].contains(url.scheme?.lowercased()), url.host() != nil
    else { return nil }
    let address = String(url.absoluteString.prefix { $0 != "#" })
    return address.utf8.count <= Key.longest ? address : nil
  }

  /// The text with HTML character references such as `&amp;` and `&#x26;` resolved. An unknown name, as in `&b;`, stays.
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

extension Substring {
  /// The text behind the next occurrence of `end`, in lower or upper case; empty if there is none.
  fileprivate func behind(_ end: String) -> Substring {
    range(of: end, options: .caseInsensitive).map { self[$0.upperBound...] } ?? ""
  }
}
