import CEditline

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension LineEditor {
  /// The line as it stands while it is edited.
  struct Line {
    var beforeCursor: String.UnicodeScalarView
    var afterCursor: String.UnicodeScalarView

    var bytes: [UInt8] { Array(String(beforeCursor).utf8) + Array(String(afterCursor).utf8) }
    var cursor: Int { String(beforeCursor).utf8.count }
    var isMultiline: Bool { beforeCursor.contains("\n") || afterCursor.contains("\n") }
  }

  var line: Line {
    let info = unsafe el_wline(editor).pointee
    return unsafe Line(
      beforeCursor: Self.text(from: info.buffer, to: info.cursor),
      afterCursor: Self.text(from: info.cursor, to: info.lastchar))
  }

  /// Inserts at the cursor; false if there is no room for it. A NUL ends the text.
  func insert(_ text: some StringProtocol) -> Bool {
    var wide = text.unicodeScalars.map { wchar_t(bitPattern: $0.value) }
    wide.append(0)
    return unsafe el_winsertstr(editor, &wide) == 0
  }

  func deleteBeforeCursor(scalars count: Int) {
    unsafe el_deletestr(editor, Int32(count))
  }

  @unsafe static func text(
    from start: UnsafePointer<wchar_t>, to end: UnsafePointer<wchar_t>
  ) -> String.UnicodeScalarView {
    let characters = unsafe UnsafeBufferPointer(start: start, count: end - start)
    let scalars = unsafe characters.map {
      Unicode.Scalar(UInt32(bitPattern: $0)) ?? "\u{FFFD}"
    }
    return String.UnicodeScalarView(scalars)
  }
}
