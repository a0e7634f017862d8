import CEditline

extension LineEditor {
  func bindKeys() {
    unsafe add("larder-complete") { editor, _ in
      unsafe perform(editor) { editor throws(TerminalError) in try editor.completeWord() }
    }
    unsafe add("larder-paste") { editor, _ in
      unsafe perform(editor) { editor throws(TerminalError) in try editor.paste() }
    }
    unsafe add("larder-newline") { editor, _ in unsafe perform(editor) { $0.insert("\n") } }
    unsafe add("larder-earlier") { editor, _ in unsafe perform(editor) { $0.recall(.earlier) } }
    unsafe add("larder-later") { editor, _ in unsafe perform(editor) { $0.recall(.later) } }
    unsafe add("larder-left") { editor, _ in unsafe perform(editor) { $0.moveLeft() } }
    unsafe add("larder-right") { editor, _ in unsafe perform(editor) { $0.moveRight() } }
    unsafe add("larder-delete-left") { editor, _ in unsafe perform(editor) { $0.deleteLeft() } }
    unsafe add("larder-delete-right") { editor, _ in unsafe perform(editor) { $0.deleteRight() } }
    unsafe add("larder-delete-or-leave") { editor, _ in
      unsafe perform(editor) { $0.deleteRightOrLeave() }
    }
    unsafe add("larder-delete-word") { editor, _ in unsafe perform(editor) { $0.deleteWordLeft() } }
    unsafe cel_bind(editor, "^I", "larder-complete")
    guard !isVi else { return }
    for (function, keys) in Self.emacsKeys {
      for key in keys { unsafe cel_bind(editor, key, function) }
    }
  }

  @unsafe private func add(_ name: String, _ function: cel_function) {
    unsafe cel_add_function(editor, name, name, function)
  }

  fileprivate func insert(_ text: String) -> Int32 { buffer.insert(text) ? CC_REFRESH : CC_ERROR }

  fileprivate func recall(_ direction: LineHistory.Direction) -> Int32 {
    guard let line = history.recall(direction, from: buffer.line) else { return CC_ERROR }
    buffer.replace(with: line)
    return CC_REFRESH
  }

  // These functions move over and delete whole visible characters. libedit counts scalars, and would delete half of an emoji.

  fileprivate func moveLeft() -> Int32 { move(scalars: -buffer.line.clusterBefore) }
  fileprivate func moveRight() -> Int32 { move(scalars: buffer.line.clusterAfter) }
  fileprivate func deleteLeft() -> Int32 { delete(scalars: buffer.line.clusterBefore) }
  /// ^W: deletes the text from the beginning of the word to the cursor.
  fileprivate func deleteWordLeft() -> Int32 { delete(scalars: buffer.line.wordBefore) }

  fileprivate func deleteRight() -> Int32 {
    let count = buffer.line.clusterAfter
    return move(scalars: count) == CC_ERROR ? CC_ERROR : delete(scalars: count)
  }

  /// ^D: on an empty line ends the input, on another line deletes the character after the cursor.
  fileprivate func deleteRightOrLeave() -> Int32 {
    buffer.line.bytes.isEmpty ? CC_EOF : deleteRight()
  }

  private func move(scalars count: Int) -> Int32 {
    guard count != 0 else { return CC_ERROR }
    unsafe el_cursor(editor, Int32(count))
    return CC_CURSOR
  }

  private func delete(scalars count: Int) -> Int32 {
    guard count > 0 else { return CC_ERROR }
    buffer.deleteBeforeCursor(scalars: count)
    return CC_REFRESH
  }

  /// Keys of other shells, as the codes that terminals send. libedit does not bind these keys, or binds these keys differently.
  private static let emacsKeys: KeyValuePairs = [
    "em-inc-search-prev": ["^R"],
    "larder-delete-word": ["^W"],
    "larder-delete-left": ["^H", "^?"],
    "larder-delete-or-leave": ["^D"],
    "larder-left": ["^B", "\\e[D", "\\eOD"],
    "larder-right": ["^F", "\\e[C", "\\eOC"],
    "larder-earlier": ["^P", "\\e[A", "\\eOA"],
    "larder-later": ["^N", "\\e[B", "\\eOB"],
    "ed-move-to-beg": ["\\e[H", "\\eOH", "\\e[1~"],
    "ed-move-to-end": ["\\e[F", "\\eOF", "\\e[4~"],
    "larder-delete-right": ["\\e[3~"],
    "em-next-word": ["\\e[1;5C", "\\e[1;3C"],
    "ed-prev-word": ["\\e[1;5D", "\\e[1;3D"],
    "larder-newline": ["\\e^M", "\\e^J"],
    "larder-paste": ["\\e[200~"],
  ]

  /// In paste mode, the terminal sends marks around pasted text, so that a newline in this text does not run a command.
  enum PasteMode {
    static let on = "\u{1B}[?2004h"
    static let off = "\u{1B}[?2004l"
  }

  /// Reads all bytes up to the end mark as text, even if the bytes look like a key.
  func paste() throws(TerminalError) -> Int32 {
    let reader = PasteReader(
      next: { () throws(TerminalError) in try self.nextScalar() },
      nextByte: { () throws(TerminalError) in try Self.byteSoon() })
    guard let text = try reader.read() else { return CC_EOF }
    return insert(Self.pasted(text))
  }

  /// The next byte of the terminal. Nil at the end of the input, and if no byte comes within half a second.
  private static func byteSoon() throws(TerminalError) -> UInt8? {
    var result = Terminal.WaitResult.signalled
    while result == .signalled {
      result = try Terminal.wait(for: .input, atMost: .milliseconds(500))
    }
    return try result == .ready ? Terminal.read(.input, atMost: 1).first : nil
  }

  /// The text to insert for a paste. Terminals send Return for each newline. Omits the last newline, so that the cursor stays
  /// behind the text. Omits control characters other than tab and newline, because such characters would disturb the screen.
  static func pasted(_ text: String) -> String {
    let lines: [Unicode.Scalar] = text.unicodeScalars.map { $0 == "\r" ? "\n" : $0 }
    var scalars = String.UnicodeScalarView(
      lines.filter { ["\n", "\t"].contains($0) || $0.properties.generalCategory != .control })
    if scalars.last == "\n" { scalars.removeLast() }
    return String(scalars)
  }
}

/// Runs a function of the editor for libedit. If the function throws, the line ends, and `readLine` throws the error.
@unsafe private func perform(
  _ editor: OpaquePointer?, _ function: (LineEditor) throws(TerminalError) -> Int32
) -> UInt8 {
  guard let editor = unsafe LineEditor.of(editor) else { return UInt8(CC_FATAL) }
  do throws(TerminalError) { return UInt8(try function(editor)) } catch {
    editor.failure = error
    return UInt8(CC_EOF)
  }
}
