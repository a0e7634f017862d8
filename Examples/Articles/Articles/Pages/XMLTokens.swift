/// The pieces of an XML document, read strictly: a drawing that browsers may read in another way is broken here.
struct XMLTokens: Sequence, IteratorProtocol {
  enum Token {
    case open(Tag)
    /// A name as it stands.
    case close(String)
    /// With references.
    case text(String)
    /// A `CDATA` section.
    case data(String)
    case comment
    /// The contents of `<?...?>`.
    case instruction(String)
    case documentType
    /// The document is not well-formed, or declares something. It is the last one.
    case broken
  }

  struct Tag {
    var name: String
    /// The values are as they stand, with references.
    var attributes: [(name: String, value: String)] = []
    var isEmpty = false
  }

  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    _ = skip("\u{FEFF}")
  }

  mutating func next() -> Token? {
    guard position < bytes.count else { return nil }
    if let token = token() { return token }
    position = bytes.count
    return .broken
  }

  /// Nil for a broken one.
  private mutating func token() -> Token? {
    if bytes[position] != UInt8(ascii: "<") {
      return .text(word { $0 == UInt8(ascii: "<") })
    }
    if skip("<!--") { return text(before: "-->").map { _ in .comment } }
    if skip("<![CDATA[") { return text(before: "]]>").map(Token.data) }
    if skip("<!DOCTYPE") { return passDocumentType() ? .documentType : nil }
    if skip("<?") { return text(before: "?>").map(Token.instruction) }
    if skip("</") {
      let name = name()
      passBlanks()
      return skip(">") ? .close(name) : nil
    }
    _ = skip("<")
    return tag().map(Token.open)
  }

  private mutating func tag() -> Tag? {
    var tag = Tag(name: name())
    guard let first = tag.name.utf8.first, first.isLetter || first == UInt8(ascii: "_") else {
      return nil
    }
    while true {
      passBlanks()
      if skip("/>") {
        tag.isEmpty = true
        return tag
      }
      if skip(">") { return tag }
      let name = name()
      passBlanks()
      guard !name.isEmpty, skip("=") else { return nil }
      passBlanks()
      guard let value = skip("\"") ? text(before: "\"") : skip("'") ? text(before: "'") : nil,
        !value.utf8.contains(UInt8(ascii: "<"))
      else { return nil }
      tag.attributes.append((name, value))
    }
  }

  /// Declarations in the document type may give any text and any attribute to the drawing.
  private mutating func passDocumentType() -> Bool {
    var quote: UInt8?
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      switch byte {
      case quote: quote = nil
      case _ where quote != nil: continue
      case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = byte
      case UInt8(ascii: ">"): return true
      case UInt8(ascii: "["), UInt8(ascii: "<"): return false
      default: continue
      }
    }
    return false
  }

  private mutating func name() -> String { word { $0.isBlank || "=/><\"'".utf8.contains($0) } }

  private mutating func passBlanks() { _ = word { !$0.isBlank } }

  /// The text up to a byte that is its end.
  private mutating func word(until isEnd: (UInt8) -> Bool) -> String {
    let first = position
    position = bytes[first...].firstIndex(where: isEnd) ?? bytes.count
    return String(decoding: bytes[first..<position], as: UTF8.self)
  }

  /// The text before an end, which is passed; nil without that.
  private mutating func text(before end: String) -> String? {
    let (first, last) = (position, Array(end.utf8))
    while let next = bytes[position...].firstIndex(of: last[0]) {
      position = next
      if skip(end) { return String(decoding: bytes[first..<next], as: UTF8.self) }
      position += 1
    }
    return nil
  }

  private mutating func skip(_ text: String) -> Bool {
    guard bytes[position...].starts(with: text.utf8) else { return false }
    position += text.utf8.count
    return true
  }
}
