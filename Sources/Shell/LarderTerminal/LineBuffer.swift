import CEditline

@safe struct LineBuffer {
  struct Line {
    var beforeCursor: String.UnicodeScalarView
    var afterCursor: String.UnicodeScalarView

    var bytes: [UInt8] { Array(String(beforeCursor).utf8) + Array(String(afterCursor).utf8) }
    var cursor: Int { String(beforeCursor).utf8.count }
  }

  private let editor: OpaquePointer

  @unsafe init(of editor: OpaquePointer) { unsafe self.editor = editor }

  var line: Line {
    let info = unsafe el_wline(editor).pointee
    return unsafe Line(
      beforeCursor: Self.text(from: info.buffer, to: info.cursor),
      afterCursor: Self.text(from: info.cursor, to: info.lastchar))
  }

  /// Inserts the part of the text before a NUL, at the cursor. Returns false if there is not enough room.
  func insert(_ text: some StringProtocol) -> Bool {
    var wide = text.unicodeScalars.map { wchar_t(bitPattern: $0.value) }
    wide.append(0)
    return unsafe el_winsertstr(editor, &wide) == 0
  }

  func deleteBeforeCursor(scalars count: Int) { unsafe el_deletestr(editor, Int32(count)) }

  /// Replaces the whole line, and moves the cursor to its end.
  func replace(with text: String) {
    let info = unsafe el_wline(editor).pointee
    unsafe el_cursor(editor, Int32(info.lastchar - info.cursor))
    deleteBeforeCursor(scalars: unsafe info.lastchar - info.buffer)
    _ = insert(text)
  }

  @unsafe static func text(
    from start: UnsafePointer<wchar_t>, to end: UnsafePointer<wchar_t>
  ) -> String.UnicodeScalarView {
    let characters = unsafe UnsafeBufferPointer(start: start, count: end - start)
    let scalars = unsafe characters.map { Unicode.Scalar(UInt32(bitPattern: $0)) ?? "\u{FFFD}" }
    return String.UnicodeScalarView(scalars)
  }
}

extension LineBuffer.Line {
  var clusterBefore: Int { String(beforeCursor).last?.unicodeScalars.count ?? 0 }
  var clusterAfter: Int { String(afterCursor).first?.unicodeScalars.count ?? 0 }

  /// The number of scalars from the beginning of the word before the cursor to the cursor, with the separators after the word.
  var wordBefore: Int {
    let isOfWord = { (character: Character) in character.isLetter || character.isNumber }
    let before = String(beforeCursor)
    let separators = before.reversed().prefix { !isOfWord($0) }
    let word = before.dropLast(separators.count).reversed().prefix(while: isOfWord)
    return (Array(separators) + Array(word)).reduce(0) { $0 + $1.unicodeScalars.count }
  }
}
