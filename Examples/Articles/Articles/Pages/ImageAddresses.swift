import Foundation
import Service

/// The images of a piece of HTML: those of `src` and all candidates of `srcset`, in their order, each once.
///
/// Addresses are absolute. `data:` URLs and other schemes than HTTP are left out.
enum ImageAddresses {
  /// - Parameter address: the URL of the HTML, the base of relative addresses.
  static func all(in html: String, from address: String) -> [String] {
    let base = URL(browsing: address)
    var seen: Set<String> = []
    var addresses: [String] = []
    for case .open(let tag) in HTMLTokens(html) where ["img", "source"].contains(tag.name) {
      for (name, value) in tag.attributes {
        let value = CharacterReferences.resolved(value)
        let shown =
          switch name {
          case "src" where tag.name == "img": [value]
          case "srcset": candidates(of: value)
          default: [String]()
          }
        addresses += shown.compactMap { absolute($0, base) }.filter { seen.insert($0).inserted }
      }
    }
    return addresses
  }

  /// The addresses of a `srcset`. A comma ends a candidate after its descriptor, or after an address without one; any other
  /// comma is part of the address.
  static func candidates(of set: String) -> [String] {
    var addresses: [String] = []
    var rest = Substring(set)
    while true {
      rest = rest.drop { $0.isWhitespace || $0 == "," }
      guard !rest.isEmpty else { return addresses }
      var address = rest.prefix { !$0.isWhitespace }
      rest = rest[address.endIndex...]
      let isEnd = address.hasSuffix(",")
      while address.hasSuffix(",") { address.removeLast() }
      addresses.append(String(address))
      if !isEnd { rest = rest.drop { $0 != "," } }
    }
  }

  /// The longest address that a store takes as a key.
  private static let longest = 65_536

  /// An address for a person: without the query, which may contain a signature.
  static func name(of address: String) -> String { String(address.prefix { $0 != "?" }) }

  /// The absolute address without its fragment; nil for other schemes than HTTP, and for one that is too long.
  private static func absolute(_ text: String, _ base: URL?) -> String? {
    let text = text.trimmingBlanks
    guard !text.isEmpty, let url = URL(browsing: text, relativeTo: base),
      ["http", "https"].contains(url.scheme?.lowercased()), url.host() != nil
    else { return nil }
    // The fragment is no part of the resource.
    let address = String(url.absoluteString.prefix { $0 != "#" })
    return address.utf8.count <= longest ? address : nil
  }
}
