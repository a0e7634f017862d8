import Foundation
import Service

/// Makes HTML of unknown origin safe to show in a page: it cannot run code, load anything, or change the page around it.
///
/// The HTML is parsed and written again, so that no difference between this parser and a browser's matters. Only elements and
/// attributes of the lists here are written; of all other elements the text stays. Every element is closed.
struct SafeHTML {
  private static let elements: Set<String> = [
    "a", "abbr", "article", "b", "blockquote", "br", "caption", "cite", "code", "dd", "del", "dfn",
    "div", "dl", "dt", "em", "figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i",
    "img", "ins", "kbd", "li", "mark", "ol", "p", "pre", "q", "s", "samp", "section", "small",
    "span", "strong", "sub", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "time", "tr",
    "u", "ul", "var",
  ]
  private static let void: Set<String> = ["br", "hr", "img"]
  private static let attributes: Set<String> = [
    "alt", "colspan", "datetime", "dir", "lang", "rowspan", "start", "title",
  ]
  private static let cells: Set<String> = ["table", "caption", "td", "th"]
  /// The elements that a start tag ends, as HTML says: without end tags they would be nested ever deeper. Those around an open
  /// element of `bounds` stay open.
  private static let ends: [(starts: Set<String>, ended: Set<String>, bounds: Set<String>)] = [
    (
      [
        "article", "blockquote", "div", "dl", "dd", "dt", "figcaption", "figure", "h1", "h2", "h3",
        "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "section", "table", "ul",
      ], ["p"], cells
    ), (["li"], ["li"], cells.union(["ol", "ul"])),
    (["dd", "dt"], ["dd", "dt"], cells.union(["dl"])), (["td", "th"], ["td", "th"], ["table"]),
    (["tr"], ["tr", "td", "th"], ["table"]),
    (["tbody", "tfoot", "thead"], ["tbody", "tfoot", "thead", "tr"], ["table"]),
    (["a"], ["a"], cells),
  ]
  /// Elements that are open at the same time; deeper ones are left out.
  private static let deepest = 100

  /// The base of relative links.
  let base: URL?
  /// The address of the HTML, the base of relative images.
  let imageBase: URL?
  /// The file of an image in the page's folder; nil if there is none.
  let file: (_ address: String) -> String?

  func sanitized(_ html: String) -> String {
    var result = ""
    var open: [String] = []
    // The stored image of the sources of a picture, in place of which its `img` stands.
    var source: String?
    func close(from first: Int) {
      while open.count > first { result += "</" + open.removeLast() + ">" }
    }
    for token in HTMLTokens(html) {
      switch token {
      case .text(let text): result += Self.escapedText(text)
      case .open(let tag) where tag.name == "picture": source = nil
      case .open(let tag) where tag.name == "source":
        source = source ?? file(of: tag)
      case .open(let tag) where tag.name == "img": result += image(tag, or: source)
      case .open(let tag):
        guard Self.elements.contains(tag.name) else { continue }
        for rule in Self.ends where rule.starts.contains(tag.name) {
          let inner = (open.lastIndex(where: rule.bounds.contains) ?? -1) + 1
          if let first = open[inner...].firstIndex(where: rule.ended.contains) {
            close(from: first)
          }
        }
        let isVoid = Self.void.contains(tag.name)
        guard isVoid || open.count < Self.deepest else { continue }
        result += "<" + tag.name + attributes(of: tag) + ">"
        if !isVoid { open.append(tag.name) }
      case .close("picture"): source = nil
      case .close(let name):
        if let last = open.lastIndex(of: name) { close(from: last) }
      }
    }
    close(from: 0)
    return result
  }

  private func attributes(of tag: HTMLTokens.Tag) -> String {
    var written: Set<String> = []
    return tag.attributes.compactMap { name, value in
      guard written.insert(name).inserted else { return nil }
      if name == "href", tag.name == "a" {
        let address = Self.link(CharacterReferences.resolved(value), base)
        return address.map { #" href="\#(Self.escaped($0))" rel="noreferrer""# }
      }
      return Self.attributes.contains(name) ? #" \#(name)="\#(Self.escapedValue(value))""# : nil
    }.joined()
  }

  /// The first stored image of a tag.
  private func file(of tag: HTMLTokens.Tag) -> String? {
    ImageAddresses.all(in: tag, from: imageBase).lazy.compactMap(file).first
  }

  /// The stored image, or that of its picture, or the text in its place.
  private func image(_ tag: HTMLTokens.Tag, or source: String?) -> String {
    let alt = Self.escapedValue(tag.attributes.first { $0.name == "alt" }?.value ?? "")
    guard let file = file(of: tag) ?? source else {
      return alt.isEmpty ? "" : #"<span class="missing">\#(alt)</span>"#
    }
    return #"<img src="\#(Self.escaped(file))" alt="\#(alt)">"#
  }

  /// The absolute address of a link; nil for other schemes than HTTP and mail.
  static func link(_ text: String, _ base: URL?) -> String? {
    // As browsers read it: without tabs and line breaks, and without blanks at its ends.
    let isBlank = { (scalar: UnicodeScalar) in scalar.value <= 0x20 }
    let scalars = text.unicodeScalars.filter { !"\t\n\r".unicodeScalars.contains($0) }
      .drop(while: isBlank).reversed().drop(while: isBlank).reversed()
    let text = String(String.UnicodeScalarView(scalars))
    guard let url = URL(browsing: text, relativeTo: base) else { return nil }
    switch url.scheme?.lowercased() {
    case "http", "https": return url.host() == nil ? nil : url.absoluteString
    case "mailto": return url.absoluteString
    default: return nil
    }
  }

  /// Text with character references, which stay: browsers know more of them.
  private static func escapedText(_ text: String) -> String {
    text.replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }

  /// The same for the value of an attribute.
  private static func escapedValue(_ text: String) -> String {
    escapedText(text).replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
  }

  /// Any text, for a page or the value of an attribute.
  static func escaped(_ text: String) -> String {
    escapedValue(text.replacing("&", with: "&amp;"))
  }
}
