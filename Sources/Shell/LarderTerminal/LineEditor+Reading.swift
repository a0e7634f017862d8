import CEditline

extension LineEditor {
  /// Replaces the reader of libedit, in which a signal would end the process, and which cannot show hints.
  func readKeysOurselves() {
    unsafe cel_set_reader(editor) { editor, character in
      guard let self = unsafe LineEditor.of(editor) else { return -1 }
      do throws(TerminalError) {
        guard let scalar = try self.nextScalar() else { return self.wasInterrupted ? -1 : 0 }
        unsafe character?.pointee = wchar_t(bitPattern: scalar.value)
        return 1
      } catch {
        self.failure = error
        return -1
      }
    }
  }

  /// The next typed character. Nil at the end of the input and after ^C. Bytes that are not valid UTF-8 become U+FFFD.
  func nextScalar() throws(TerminalError) -> Unicode.Scalar? {
    guard let first = try nextByte() else { return nil }
    var bytes = [first]
    while bytes.count < Self.length(after: first) {
      guard let next = try nextByte() else { return nil }
      guard next & 0xC0 == 0x80 else {
        held.insert(next, at: 0)
        return "\u{FFFD}"
      }
      bytes.append(next)
    }
    return String(validating: bytes, as: UTF8.self)?.unicodeScalars.first ?? "\u{FFFD}"
  }

  /// Reads one byte at a time. So early typed text stays in the terminal, where a pager can read it and ^C discards it.
  private func nextByte() throws(TerminalError) -> UInt8? {
    while !wasInterrupted {
      if !held.isEmpty { return held.removeFirst() }
      switch try waitForKey() {
      // A signal that came before this key, such as ^C, is handled before the key.
      case .ready where TerminalSignals.counts != seen: try answerSignals()
      case .ready:
        try display.hideHint()
        let key = try Terminal.read(.input, atMost: 1).first
        // A report of the cursor's place may come after the time limit. The report is not a key, so the report is dropped.
        guard let byte = key, byte == 0x1B, report != .none else { return key }
        if try reportedColumn(after: [byte], within: .milliseconds(50)) != nil { continue }
        return held.removeFirst()
      case .signalled: try answerSignals()
      case .timedOut: break
      }
    }
    return nil
  }

  private func waitForKey() throws(TerminalError) -> Terminal.WaitResult {
    let now = try Terminal.wait(for: .input, atMost: .zero)
    guard now == .timedOut else { return now }
    try display.settleLine()
    try display.highlightLine()
    try display.showHint()
    return try Terminal.wait(for: .input)
  }

  private func answerSignals() throws(TerminalError) {
    let counts = TerminalSignals.counts
    let before = seen
    guard counts != before else { return }
    seen = counts
    try display.hideHint()
    if counts.terminations != before.terminations {
      try release()
      TerminalSignals.terminate()
    } else if counts.interrupts != before.interrupts {
      try display.leaveLine()
      held = []
      wasInterrupted = true
      Interrupts.acknowledge()
    } else if counts.suspensions != before.suspensions {
      try suspend()
    } else if counts.continuations != before.continuations {
      try display.eraseLine()
      resume()
    } else {
      try display.eraseLine(cursorAt: display.isMoved ? cursorColumn() : nil)
      display.redraw()
    }
  }

  /// Asks the terminal for the column of the cursor. Nil if no answer comes. Keys that come meanwhile are kept.
  private func cursorColumn() throws(TerminalError) -> Int? {
    guard report != .missing else { return nil }
    try Terminal.write("\u{1B}[6n")
    let column = try reportedColumn(within: .seconds(2))
    // If a signal stopped the wait, a later call may ask again. If no answer came in time, no later call asks.
    if column == nil { report = TerminalSignals.counts != seen ? .late : .missing }
    return column
  }

  /// Reads until the report `ESC [ row ; column R`, and keeps all other bytes for later keys. Nil after `limit` or a signal.
  private func reportedColumn(
    after bytes: [UInt8] = [], within limit: Duration
  ) throws(TerminalError) -> Int? {
    var bytes = bytes
    defer { held += bytes }
    while true {
      switch try Terminal.wait(for: .input, atMost: limit) {
      // This signal came before the wait began, so the wait continues.
      case .signalled where TerminalSignals.counts == seen: continue
      case .timedOut, .signalled: return nil
      case .ready: break
      }
      guard let byte = try Terminal.read(.input, atMost: 1).first else { return nil }
      bytes.append(byte)
      guard byte == UInt8(ascii: "R"), let start = bytes.lastIndex(of: 0x1B) else { continue }
      let parts = String(decoding: bytes[start...].dropLast(), as: UTF8.self).split(separator: ";")
      guard parts.count == 2, parts[0].hasPrefix("\u{1B}["), let column = UInt16(parts[1])
      else { continue }
      bytes.removeSubrange(start...)
      return Int(column) - 1
    }
  }

  /// Restores the terminal before the process stops, because some shells do not restore the terminal.
  private func release() throws(TerminalError) {
    try display.leaveLine()
    try Terminal.write("\n")
    if !isVi { try Terminal.write(PasteMode.off) }
    unsafe cel_prepare_terminal(editor, 0)
  }

  private func suspend() throws(TerminalError) {
    try release()
    TerminalSignals.suspend()
    seen = TerminalSignals.counts
    if !isVi { try Terminal.write(PasteMode.on) }
    resume()
  }

  /// Sets the mode of the terminal again. libedit believes that the mode is still set, so libedit must first leave the mode.
  private func resume() {
    unsafe cel_prepare_terminal(editor, 0)
    unsafe cel_prepare_terminal(editor, 1)
    display.redraw()
  }

  private static func length(after lead: UInt8) -> Int {
    switch lead {
    case 0xC2...0xDF: 2
    case 0xE0...0xEF: 3
    case 0xF0...0xF4: 4
    default: 1
    }
  }
}
