import Larder
import ShellLanguage

/// A value for a person: a line of facts, the head of an HTTP response, and the value in the form that is best to read.
struct ValueView {
  private enum Form {
    case json(JSONText)
    case text, hex, base64
  }

  /// The most bytes that are shown of a text. `shownBytes` is the most bytes of a dump.
  private static let shownText = 16_000
  private static let shownBytes = 512
  /// The layout of JSON with more bytes would take too long, so such JSON is shown as text if no form was requested.
  private static let largestJSON = 4_000_000
  /// The most bytes of a body that are read if only the beginning of the value is shown.
  static let mostCut = largestJSON + 1

  private let value: StoredValue
  private let bytes: [UInt8]
  private let isFull: Bool
  /// The number of bytes of a long value that were not read. The number is 0 if a person asked only for the beginning.
  private let unread: Int
  private let form: Form
  private let kind: String?

  init(_ value: StoredValue, as style: ValueStyle, head: Int?, isFull: Bool) throws(ShellError) {
    self.value = value
    self.isFull = isFull || head != nil
    let whole = style == .auto ? value.readable : value.bytes
    if head == nil, value.bytes.count < value.size {
      bytes = Self.withoutHalfCharacter(whole)
      unread = value.size - bytes.count
    } else {
      bytes = head.map { Array(whole.prefix($0)) } ?? whole
      unread = 0
    }
    kind = BinaryKind.name(of: bytes)
    form =
      switch style {
      case .auto: Self.form(of: bytes, kind: kind)
      case .json: .json(try value.json())
      case .text: .text
      case .hex: .hex
      case .base64: .base64
      }
  }

  func bytes(for presentation: Presentation) -> [UInt8] {
    let clock = presentation.clock
    let facts = DisplayWidth.wrap(facts(clock), columns: presentation.width, indent: 2)
    let line = presentation.hasColor ? "\u{1B}[2m\(facts)\u{1B}[0m\n" : "\(facts)\n"
    return Array(line.utf8) + content(for: presentation)
  }

  func content(for presentation: Presentation) -> [UInt8] {
    var result = ""
    if let response = value.entry.response { result += cut(response.text) + "\n" }
    switch form {
    case .json(let json): result += text(of: json, presentation)
    case .text: result += cut(Self.lines(bytes))
    case .base64: result += cut(String(decoding: Cell.base64(bytes).raw, as: UTF8.self) + "\n")
    case .hex:
      let shown = isFull ? bytes[...] : bytes.prefix(Self.shownBytes)
      result += HexDump.text(shown, width: presentation.width)
      result += rest(bytes.count - shown.count)
    }
    return Array(result.utf8)
  }

  /// The bytes without a half character at the end. With a half character, the view would show the text as a dump.
  private static func withoutHalfCharacter(_ bytes: [UInt8]) -> [UInt8] {
    guard let last = bytes.suffix(4).lastIndex(where: { $0 & 0xC0 != 0x80 }), bytes[last] >= 0xC0
    else { return bytes }
    return Array(bytes[..<last])
  }

  private func facts(_ clock: WallClock) -> String {
    let entry = value.entry
    let size = Wording.size(value.size)
    let binary = if case .hex = form { kind } else { nil as String? }
    let what = [DecodedValue.kind(value.bytes.span, entry.codec), binary, size, value.body?.place]
      .compactMap { $0 }.joined(separator: ", ")
    let end =
      entry.state == .stale ? "stale, \(clock.expiry(entry.expires?.unix))" : entry.end(clock)
    return "\(what)  written \(clock.distance(to: entry.written.unix))  \(end)"
  }

  private static func form(of bytes: [UInt8], kind: String?) -> Form {
    if let first = bytes.first(where: { ![.space, .tab, .newline].contains($0) }),
      first == UInt8(ascii: "{") || first == UInt8(ascii: "["), bytes.count <= largestJSON,
      let json = try? JSONText(bytes)
    {
      return .json(json)
    }
    let isText = String(validating: bytes, as: UTF8.self) != nil && !bytes.contains(0)
    return kind == nil && isText ? .text : .hex
  }

  /// The lines as text. Everything on which a terminal could act is escaped.
  private static func lines(_ bytes: [UInt8]) -> String {
    var lines = bytes.lines
    if lines.last?.isEmpty == true { lines.removeLast() }
    return lines.map { line in
      line.split(separator: .tab, omittingEmptySubsequences: false)
        .map { Quoting.printable(Array($0)) }.joined(separator: "\t") + "\n"
    }.joined()
  }

  /// JSON as text. If the text is cut, it has no color, because the cut could split an escape sequence.
  private func text(of json: JSONText, _ presentation: Presentation) -> String {
    let width = presentation.width ?? 80
    let plain = json.laidOut(width: width)
    guard presentation.hasColor, isFull || plain.utf8.count <= Self.shownText else {
      return cut(plain)
    }
    return json.laidOut(width: width, hasColor: true)
  }

  private func cut(_ text: String) -> String {
    let count = text.utf8.count
    guard !isFull, count > Self.shownText else { return text }
    let end = text.utf8.index(text.startIndex, offsetBy: Self.shownText)
    // Cuts at the end of a line. If the first line is already too long, cuts within this line.
    let shown = text[..<end].lastIndex(of: "\n").map { text[...$0] } ?? text[..<end]
    let newline = shown.hasSuffix("\n") ? "" : "\n"
    return shown + newline + rest(count - shown.utf8.count)
  }

  private func rest(_ count: Int) -> String {
    let count = count + unread
    return count > 0 ? "... \(Wording.size(count)) more: get --full, --out FILE\n" : ""
  }
}
