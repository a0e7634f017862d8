/// Reads pasted text up to the mark at its end.
struct PasteReader {
  static let end = Array("\u{1B}[201~".unicodeScalars)

  /// The next character; nil at the end of the input and after ^C.
  let next: () throws(TerminalError) -> Unicode.Scalar?
  /// The next byte without decoding; nil if no byte comes soon.
  let nextByte: () throws(TerminalError) -> UInt8?

  /// The pasted text without the mark. Nil at the end of the input and after ^C.
  func read() throws(TerminalError) -> String? {
    var text: [Unicode.Scalar] = []
    while !Self.isEnd(text.suffix(Self.end.count)) {
      guard let scalar = try next() else {
        try discard(after: text.suffix(Self.end.count))
        return nil
      }
      text.append(scalar)
    }
    text.removeLast(Self.end.count)
    return String(String.UnicodeScalarView(text))
  }

  /// Drops the rest of the paste: up to the mark, or until no byte comes. Otherwise a line of the rest would run as a command.
  private func discard(after read: ArraySlice<Unicode.Scalar>) throws(TerminalError) {
    var last = read
    while !Self.isEnd(last), let byte = try nextByte() {
      last = last.suffix(Self.end.count - 1) + [Unicode.Scalar(byte)]
    }
  }

  private static func isEnd(_ scalars: ArraySlice<Unicode.Scalar>) -> Bool {
    scalars.elementsEqual(end)
  }
}
