import CEditline

/// Reads lines that are typed and edited at a terminal, with libedit.
///
/// The editor has the keys of emacs or, with `bind -v` in `~/.editrc`, the keys of vi. There is one terminal, so use one
/// editor at a time, on one thread. If `Terminal.canEditLines` is false, use `PlainLines`.
@safe package final class LineEditor {
  /// The candidates of Tab for a line; the cursor is at the byte `cursor` of the line.
  package typealias Complete = (_ line: [UInt8], _ cursor: Int) -> Completion

  /// The dim hint behind a line when the cursor is at its end; nil for none.
  package typealias Hint = (_ line: [UInt8]) -> String?

  /// The renditions for ranges of bytes of a line, such as `"1;36"`; in order, without overlap.
  package typealias Highlight = (_ line: [UInt8]) -> [(range: Range<Int>, rendition: String)]

  let editor: OpaquePointer
  let display: LineDisplay
  package let history: LineHistory
  let hasUnicode: Bool
  let complete: Complete
  var buffer: LineBuffer { unsafe LineBuffer(of: editor) }

  /// Whether the keys are the keys of vi. Then no key may begin with an escape: Escape alone must leave the insert mode.
  let isVi: Bool

  /// Bytes that were read but belong to later keys.
  var held: [UInt8] = []
  /// The state of the terminal's answer to the question where its cursor is.
  var report = Report.none

  enum Report {
    case none
    case late
    /// The answer did not come in time: the terminal is not asked again.
    case missing
  }
  /// The line whose candidates Tab has listed.
  var listedLine: [UInt8]?
  var seen = TerminalSignals.counts
  var wasInterrupted = false
  var failure: TerminalError?

  /// - Parameter showsColors: Without colors there are no hints, because they would look like the line.
  package init(
    showsColors: Bool, hasUnicode: Bool = true, complete: @escaping Complete,
    hint: @escaping Hint, highlight: @escaping Highlight
  ) throws(TerminalError) {
    Terminal.useUTF8Characters()
    guard let history = LineHistory(), let editor = unsafe cel_init("larder") else {
      throw .noLineEditor
    }
    unsafe self.editor = editor
    self.history = history
    display = unsafe LineDisplay(
      of: editor, showsColors: showsColors, hint: hint, highlight: highlight)
    self.hasUnicode = hasUnicode
    self.complete = complete

    unsafe cel_set_editor(editor, "emacs")
    // The person's own settings come before the keys of this editor: a later `bind -v` would remove these keys.
    unsafe el_source(editor, nil)
    isVi = unsafe cel_editor(editor).map { unsafe String(cString: $0) } == "vi"

    unsafe cel_set_client_data(editor, Unmanaged.passUnretained(self).toOpaque())
    unsafe cel_set_signals(editor, 0)
    // libedit 3.1-20221030 loses the rest of a wrapped line when libedit inserts characters with these terminal capabilities.
    for capability in ["ic", "IC", "im", "ei"] {
      unsafe cel_set_capability(editor, capability, "")
    }
    let prompt: cel_prompt_function = { editor in
      unsafe LineEditor.of(editor)?.display.colored
    }
    unsafe cel_set_prompt(editor, prompt, 1)
    readKeysOurselves()
    bindKeys()
    unsafe history.use(in: editor)
    TerminalSignals.countChanges()
  }

  deinit { unsafe el_end(editor) }

  /// Reads a line that the person ends with Return. Pasted text and Alt-Return can put newlines into the line.
  package func readLine(_ prompt: Prompt) throws(TerminalError) -> LineResult {
    begin(prompt)
    if !isVi { try Terminal.write(PasteMode.on) }
    var count: Int32 = 0
    let typed = unsafe el_wgets(editor, &count).map { start in
      unsafe LineBuffer.text(from: start, to: start + Int(count))
    }
    TerminalSignals.restoreTermination()
    if !isVi { try Terminal.write(PasteMode.off) }
    // A termination signal can come after the last key.
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

  private func begin(_ prompt: Prompt) {
    history.endWalk()
    listedLine = nil
    failure = nil
    wasInterrupted = false
    seen = TerminalSignals.counts
    Interrupts.acknowledge()  // a late ^C was meant for the previous command
    display.begin(prompt)
    TerminalSignals.deferTermination()
    // libedit draws the prompt before it changes the mode: input typed in between would be shown twice.
    unsafe cel_prepare_terminal(editor, 1)
  }

  /// The editor to which a callback of libedit belongs.
  @unsafe static func of(_ editor: OpaquePointer?) -> LineEditor? {
    guard let data = unsafe cel_client_data(editor) else { return nil }
    return unsafe Unmanaged<LineEditor>.fromOpaque(data).takeUnretainedValue()
  }
}
