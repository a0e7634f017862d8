/// Drawings (SVG) of unknown origin. A page shows them as images, and then browsers run and load nothing. Their files can be
/// opened alone, and then they can do whatever a page can.
enum SafeDrawing {
  /// Begins of tags and declarations that run code, show pages, or hide one of these; also with a namespace's prefix.
  private static let elements = [
    "script", "foreignobject", "iframe", "embed", "object", "audio", "video", "meta", "handler",
    "listener", "!entity", "?xml-stylesheet",
  ].map { Array($0.utf8) }
  private static let words = ["javascript:", "@import", "image-set(", "\\", "\u{1B}"].map {
    Array($0.utf8)
  }
  private static let references = ["href", "src"].map { Array($0.utf8) }
  /// References to the drawing itself, or to images in it.
  private static let inner = [
    "#", "data:image/png", "data:image/jpeg", "data:image/gif", "data:image/webp",
  ]
  .map { Array($0.utf8) }

  /// Whether the drawing runs no code and refers to nothing outside. Anything doubtful counts as unsafe, also in a text or a
  /// comment: parsers differ.
  static func isSafe(_ bytes: [UInt8]) -> Bool {
    let text = bytes.map(\.lowercased)
    for place in text.indices {
      let rest = text[place...]
      switch text[place] {
      case UInt8(ascii: "<"), UInt8(ascii: ":"):
        if starts(rest.dropFirst(), Self.elements) { return false }
      // An escape may hide a word: of styles, or of an encoding.
      case UInt8(ascii: "j"), UInt8(ascii: "@"), UInt8(ascii: "i"), UInt8(ascii: "\\"), 0x1B:
        if starts(rest, Self.words) { return false }
      case UInt8(ascii: "o") where place == 0 || !isName(text[place - 1]):
        if isHandler(rest) { return false }
      case UInt8(ascii: "h"), UInt8(ascii: "s"):
        guard let word = references.first(where: { rest.starts(with: $0) }) else { continue }
        let value = rest.dropFirst(word.count).drop(while: \.isBlank)
        // A name that an animation changes, for example.
        guard value.first == UInt8(ascii: "=") else {
          if word.count == 4 { return false }
          continue
        }
        if !isInner(value.dropFirst()) { return false }
      case UInt8(ascii: "u") where rest.starts(with: "url(".utf8):
        if !isInner(rest.dropFirst(4)) { return false }
      default: continue
      }
    }
    return true
  }

  private static func starts(_ text: ArraySlice<UInt8>, _ words: [[UInt8]]) -> Bool {
    words.contains { text.starts(with: $0) }
  }

  private static func isName(_ byte: UInt8) -> Bool { byte.isLetter || byte == UInt8(ascii: "-") }

  /// `onload =`
  private static func isHandler(_ text: ArraySlice<UInt8>) -> Bool {
    let name = text.prefix(while: \.isLetter)
    return name.count > 2 && name.starts(with: "on".utf8)
      && text.dropFirst(name.count).drop(while: \.isBlank).first == UInt8(ascii: "=")
  }

  private static func isInner(_ value: ArraySlice<UInt8>) -> Bool {
    let quotes = "\"'".utf8
    return starts(value.drop { $0.isBlank || quotes.contains($0) }, Self.inner)
  }
}
