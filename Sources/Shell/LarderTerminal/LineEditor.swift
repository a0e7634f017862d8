import CEditline

/// Reads lines that a person edits at a terminal, with libedit and the keys of emacs, or of vi if `~/.editrc` has `bind -v`. Use
/// one editor at a time, on one thread. If `Terminal.canEditLines` is false, use `PlainLines` instead.
@safe package final class LineEditor {
  /// The candidates of the Tab key for a line. `cursor` is the index of the byte at which the cursor is.
  package typealias Complete = (_ line: [UInt8], _ cursor: Int) -> Completion

  /// The dim hint after a line, shown when the cursor is at the end of the line. Nil for no hint.
  package typealias Hint = (_ line: [UInt8]) -> String?

  /// The renditions for ranges of bytes in a line, such as `"1;36"`. The ranges are in order and do not overlap.
  package typealias Highlight = (_ line: [UInt8]) -> [(range: Range<Int>, rendition: String)]

  let editor: OpaquePointer
  let display: LineDisplay
  package let history: LineHistory
  let hasUnicode: Bool
  let complete: Complete
  var buffer: LineBuffer { unsafe LineBuffer(of: editor) }

  /// Whether the keys are those of vi. If so, no key may begin with an escape, because Escape alone must leave the insert mode.
  let isVi: Bool

  /// Bytes that this editor has already read, but that belong to the next keys.
  var held: [UInt8] = []
  /// Whether the terminal answers when this editor asks for the place of the cursor.
  var report = Report.none

  enum Report {
    case none
    case late
    /// No answer came in time, so the terminal is not asked again.
    case missing
  }
  /// The line for which Tab has listed candidates.
  var listedLine: [UInt8]?
  var seen = TerminalSignals.counts
  var wasInterrupted = false
  var failure: TerminalError?

  /// - Parameter showsColors: Whether colors and hints are shown. Without colors, a hint would look like the typed text.
  package init(
    showsColors: Bool, hasUnicode: Bool = true, complete: @escaping Complete, hint: @escaping Hint
  ) throws(TerminalError) {
    Terminal.useUTF8Characters()
    guard let history = LineHistory(), let editor = unsafe cel_init("larder") else {
      throw .noLineEditor
    }
    unsafe self.editor = editor
    self.history = history
    display = unsafe LineDisplay(of: editor, showsColors: showsColors, hint: hint)
    self.hasUnicode = hasUnicode
    self.complete = complete

    unsafe cel_set_editor(editor, "emacs")
    // Reads `~/.editrc` before this editor binds its keys, because a later `bind -v` would remove the editor's keys.
    unsafe el_source(editor, nil)
    isVi = unsafe cel_editor(editor).map { unsafe String(cString: $0) } == "vi"

    unsafe cel_set_client_data(editor, Unmanaged.passUnretained(self).toOpaque())
    // With these capabilities, libedit 3.1-20221030 loses the rest of a wrapped line at an insertion, so the loop removes them.
    for capability in ["ic", "IC", "im", "ei"] { unsafe cel_set_capability(editor, capability, "") }
    unsafe cel_set_prompt(editor, { editor in unsafe LineEditor.of(editor)?.display.colored }, 1)
    readKeysOurselves()
    bindKeys()
    unsafe history.use(in: editor)
    TerminalSignals.countChanges()
  }

  deinit { unsafe el_end(editor) }

  /// Reads a line that ends with Return. Pasted text and Alt-Return can add newlines to the line.
  package func readLine(
    _ prompt: Prompt, highlight: @escaping Highlight
  ) throws(TerminalError) -> LineResult {
    begin(prompt, highlight)
    if !isVi { try Terminal.write(PasteMode.on) }
    var count: Int32 = 0
    let typed = unsafe el_wgets(editor, &count).map { start in
      unsafe LineBuffer.text(from: start, to: start + Int(count))
    }
    TerminalSignals.restoreTermination()
    if !isVi { try Terminal.write(PasteMode.off) }
    // SIGTERM may have come after the last key, and must end the process now.
    if TerminalSignals.counts.terminations > 0 { TerminalSignals.terminate() }

    if let failure { throw failure }
    if wasInterrupted {
      try Terminal.write("^C\n")
      return .interrupted
    }
    guard var line = typed else {
      try Terminal.write("\n")
      return .end
    }
    if line.last == "\n" { line.removeLast() }
    return .line(Array(String(line).utf8))
  }

  private func begin(_ prompt: Prompt, _ highlight: @escaping Highlight) {
    history.endWalk()
    listedLine = nil
    failure = nil
    wasInterrupted = false
    seen = TerminalSignals.counts
    Interrupts.acknowledge()  // a ^C that came late was meant for the previous command
    display.begin(prompt, highlight)
    TerminalSignals.deferTermination()
    // libedit would set the terminal mode after it draws the prompt, and show earlier input twice. So this call sets the mode.
    unsafe cel_prepare_terminal(editor, 1)
  }

  /// The editor that belongs to a callback of libedit.
  @unsafe static func of(_ editor: OpaquePointer?) -> LineEditor? {
    guard let data = unsafe cel_client_data(editor) else { return nil }
    return unsafe Unmanaged<LineEditor>.fromOpaque(data).takeUnretainedValue()
  }
}
