import Larder
import LarderSystem
import ShellLanguage

enum ValueStyle: String, CaseIterable { case auto, json, text, hex, base64 }

struct StoredValue {
  let entry: Store.Entry
  /// The value of the entry. If the body of a response is in separate entries, `reading` returns a value with bytes of the body.
  private(set) var bytes: [UInt8]
  /// The body of a response if it is in separate entries; otherwise nil.
  let body: ResponseBody?

  init(entry: Store.Entry, bytes: [UInt8]) {
    self.entry = entry
    self.bytes = bytes
    body = ResponseBody(of: entry)
  }

  var size: Int { body?.length ?? entry.size }

  private static let mostInMemory = 1 << 30

  var readable: [UInt8] { DecodedValue.readable(bytes.span, entry.codec) ?? bytes }

  /// The entry under a key, even if it has expired. Nil if there is no entry.
  static func find(_ key: [UInt8], in namespace: Store.Namespace) throws -> StoredValue? {
    do {
      return try namespace.withEntry(for: key) { entry, value in
        StoredValue(entry: entry, bytes: value.bytes)
      }
    } catch let error as LarderError where error.code == .unreadable {
      guard let entry = try namespace.entry(for: key) else { return nil }
      throw ShellError(
        .unreadable, UnreadableValues.description(of: entry), hint: ShellError.unreadableHint)
    }
  }

  /// Gives the first `most` bytes to `take`, or the form that `style` means. If the style needs no conversion, a body in
  /// separate entries is given one part at a time, so that the memory never holds the whole body.
  func forEachPiece(
    as style: ValueStyle = .auto, most: Int?, in session: Session, _ take: ([UInt8]) throws -> Void
  ) throws {
    guard style == .auto || style == .text else {
      return try take(encoded(as: style, most: most, in: session))
    }
    guard let body else { return try take(Array(beginning(most))) }
    try body.forEachPart(of: entry, most: most ?? .max, in: session, take)
  }

  /// This value with the first `most` bytes of the body, if the body is in separate entries.
  func reading(most: Int?, in session: Session) throws -> StoredValue {
    guard body != nil else { return self }
    guard min(most ?? .max, size) <= Self.mostInMemory else {
      throw ShellError(
        .overLimit, "the body of \(entry.key.bytes) has \(Wording.size(size))",
        hint: "`get KEY --out FILE` and `get KEY` into a pipe take it in parts")
    }
    var read = self
    read.bytes = []
    try forEachPiece(most: most, in: session) { read.bytes += $0 }
    return read
  }

  /// The value for a pipe: the unchanged bytes, or the form that `style` means.
  func encoded(as style: ValueStyle, most: Int?, in session: Session) throws -> [UInt8] {
    try reading(most: most, in: session).encoded(as: style, head: most)
  }

  func encoded(as style: ValueStyle, head: Int?) throws(ShellError) -> [UInt8] {
    guard style == .hex else { return try cell(as: style, head: head).raw }
    return Array(HexDump.text(beginning(head), width: nil).utf8)
  }

  /// The value as a field in the form that `style` means: JSON, base64 or bytes. Bytes that are not UTF-8 become base64.
  func cell(as style: ValueStyle, head: Int?) throws(ShellError) -> Cell {
    switch style {
    case .auto, .text: .bytes(Array(beginning(head)))
    case .json: .json(.verbatim(String(decoding: try json(head).minified, as: UTF8.self)))
    case .hex, .base64: .base64(Array(beginning(head)))
    }
  }

  private func beginning(_ head: Int?) -> ArraySlice<UInt8> { bytes.prefix(head ?? .max) }

  func json(_ head: Int? = nil) throws(ShellError) -> JSONText {
    do throws(JSONText.ParseError) {
      return try JSONText(Array(readable.prefix(head ?? .max)))
    } catch {
      throw ShellError(
        .usage, "the value of \(entry.key.bytes) is \(error.predicate) at byte \(error.offset)",
        hint: head == nil ? "use `--as text` or `--as hex`" : "remove --head: it cuts the value")
    }
  }
}

extension Span<UInt8> { var bytes: [UInt8] { copied } }
