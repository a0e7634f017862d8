import CEditline

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Lines typed and edited at a terminal, on libedit.
///
/// It brings the keys of emacs or, where `~/.editrc` says `bind -v`, those of vi. One thread only; one editor
/// at a time, since there is one terminal. Use it where `Terminal.canEditLines` holds and `PlainLines` elsewhere.
@safe package final class LineEditor {
  /// The candidates of Tab for a line with the cursor at a byte of it.
  package typealias Complete = (_ line: [UInt8], _ cursor: Int) -> Completion

  /// The dim hint behind a line when the cursor is at its end; nil for none.
  package typealias Hint = (_ line: [UInt8]) -> String?

  /// The numbers of the rendition for bytes of a line, such as `"1;36"`; in order, without overlap.
  package typealias Paint = (_ line: [UInt8]) -> [(range: Range<Int>, rendition: String)]

  /// Something that happened while nothing was typed, shown above the line; nil for nothing.
  package typealias Notice = () -> String?

  /// How the prompt looks and how often `notice` is asked.
  package struct Style: Sendable {
    package var showsColours: Bool
    /// More than ASCII can be drawn.
    package var hasUnicode: Bool
    package var noticeInterval: Duration

    package init(
      showsColours: Bool = true, hasUnicode: Bool = true,
      noticeInterval: Duration = .milliseconds(500)
    ) {
      self.showsColours = showsColours
      self.hasUnicode = hasUnicode
      self.noticeInterval = noticeInterval
    }
  }

  let editor: OpaquePointer
  let past: OpaquePointer
  let style: Style
  let complete: Complete
  let hint: Hint
  let paint: Paint
  let notice: Notice?

  /// Whether the keys are those of vi. There no key may begin with an escape, or Escape would not leave insertion.
  let isVi: Bool

  var prompt = Prompt("")
  var coloured: UnsafeMutablePointer<CChar>?
  var historyFile: HistoryFile?
  var entries: [String] = []
  var recall: Recall?
  var heldByte: UInt8?
  var isHinting = false
  /// The line shows colors that libedit does not know of.
  var isPainted = false
  /// The line whose candidates Tab has listed.
  var listedLine: [UInt8]?
  /// The width for which the rows on the screen were drawn.
  var drawnColumns = 80
  var seen = TerminalSignals.counts
  var wasInterrupted = false
  var failure: TerminalError?

  /// - Parameters:
  ///   - style: Hints need colours: without them they could not be told from the line.
  ///   - notice: Asked only while the whole line fits into one row, and nil costs no wake-ups.
  package init(
    style: Style = Style(),
    complete: @escaping Complete = { _, _ in .none }, hint: @escaping Hint = { _ in nil },
    paint: @escaping Paint = { _ in [] }, notice: Notice? = nil
  ) throws(TerminalError) {
    Terminal.useUTF8Characters()
    guard let past = unsafe history_init() else { throw .noLineEditor }
    guard let editor = unsafe cel_init("larder") else {
      unsafe history_end(past)
      throw .noLineEditor
    }
    unsafe self.editor = editor
    unsafe self.past = past
    self.style = style
    self.complete = complete
    self.hint = hint
    self.paint = paint
    self.notice = notice

    unsafe cel_set_editor(editor, "emacs")
    // The person's own settings come first: their `bind -v` would take our keys away.
    unsafe el_source(editor, nil)
    isVi = unsafe cel_editor(editor).map { unsafe String(cString: $0) } == "vi"

    unsafe cel_set_client_data(editor, Unmanaged.passUnretained(self).toOpaque())
    unsafe cel_set_signals(editor, 0)
    keepWrappedLinesWhole()
    showPrompt()
    readKeysOurselves()
    bindKeys()
    unsafe cel_history_set_size(past, Int32(HistoryFile.limit))
    unsafe cel_use_history(editor, past)
    TerminalSignals.countChanges()
  }

  deinit {
    unsafe el_end(editor)
    unsafe history_end(past)
    unsafe free(coloured)
  }

  /// Reads a line that the person ends with Return.
  ///
  /// The line may hold newlines: pasted ones, and those of Alt-Return. It is not kept in the history; see `remember`.
  package func readLine(_ prompt: Prompt) throws(TerminalError) -> LineResult {
    begin(prompt)
    if !isVi { try Terminal.write(PasteMode.on) }
    var count: Int32 = 0
    let typed = unsafe el_wgets(editor, &count).map { start in
      unsafe Self.text(from: start, to: start + Int(count))
    }
    TerminalSignals.releaseEnds()
    if !isVi { try Terminal.write(PasteMode.off) }
    // It came behind the last key.
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
    self.prompt = prompt
    unsafe free(coloured)
    unsafe coloured = strdup(style.showsColours ? prompt.coloured(mark: "\u{1}") : prompt.text)
    recall = nil
    listedLine = nil
    isPainted = false
    failure = nil
    wasInterrupted = false
    seen = TerminalSignals.counts
    Interrupts.acknowledge()  // one that came too late for the command before has no line to drop
    unsafe el_resize(editor)
    drawnColumns = windowColumns
    TerminalSignals.holdEnds()
    // libedit draws the prompt before it changes the mode: input in between would be shown twice.
    unsafe cel_prepare_terminal(editor, 1)
  }

  private func showPrompt() {
    let function: cel_prompt_function = { editor in
      unsafe LineEditor.of(editor)?.coloured
    }
    unsafe cel_set_prompt(editor, function, 1)
  }

  /// libedit 3.1-20221030 loses the rest of a line that wraps when it inserts characters by the terminal's means.
  private func keepWrappedLinesWhole() {
    for capability in ["ic", "IC", "im", "ei"] {
      unsafe cel_set_capability(editor, capability, "")
    }
  }

  /// The object behind a callback of libedit.
  @unsafe static func of(_ editor: OpaquePointer?) -> LineEditor? {
    guard let data = unsafe cel_client_data(editor) else { return nil }
    return unsafe Unmanaged<LineEditor>.fromOpaque(data).takeUnretainedValue()
  }
}
