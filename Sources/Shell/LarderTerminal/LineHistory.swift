import CEditline

/// The entries that a person can recall at a prompt: the entries of this session and, with a file, of former sessions.
@safe package final class LineHistory {
  private let past: OpaquePointer
  private var file: LineEditor.HistoryFile?
  package private(set) var entries: [String] = []
  private var walk: Walk?

  init?() {
    guard let past = unsafe history_init() else { return nil }
    unsafe self.past = past
    unsafe cel_history_set_size(past, Int32(LineEditor.HistoryFile.limit))
  }

  deinit { unsafe history_end(past) }

  /// Lets libedit search the entries.
  @unsafe func use(in editor: OpaquePointer) { unsafe cel_use_history(editor, past) }

  /// Reads the entries of former sessions from the file. After this call, the entries of this session are added to the file. If
  /// the file cannot be read, the file is not used. If the file is missing, the file is created only if `creating` is true.
  package func keep(in file: LineEditor.HistoryFile, creating: Bool = true) throws(TerminalError) {
    if creating || file.exists { for entry in try file.load() { add(entry) } }
    self.file = file
  }

  /// Keeps an entry of one or more lines for this session and, with `inFile`, in the file. Does not keep a blank entry or an
  /// entry that begins with a space. A new entry replaces an equal older entry. Throws if the file cannot be written. After
  /// this error, the file is not used, but the entry can be recalled in this session.
  package func remember(_ bytes: [UInt8], inFile: Bool = true) throws(TerminalError) {
    let entry = String(decoding: bytes, as: UTF8.self)
    guard entry.first != " ", !entry.allSatisfy(\.isWhitespace) else { return }
    let isRepeated = entries.last?.utf8.elementsEqual(entry.utf8) ?? false
    add(entry)
    guard inFile, !isRepeated, let file else { return }
    do throws(TerminalError) { try file.append(entry) } catch {
      self.file = nil
      throw error
    }
  }

  /// Forgets the entries that can be recalled, but does not change the file.
  package func forget() {
    for entry in entries { unsafe cel_history_forget(past, entry) }
    entries = []
  }

  private func add(_ entry: String) {
    entries.removeAll { $0.utf8.elementsEqual(entry.utf8) }
    if entries.count == LineEditor.HistoryFile.limit { entries.removeFirst() }
    entries.append(entry)
    unsafe cel_history_forget(past, entry)
    unsafe cel_history_enter(past, entry)
  }

  enum Direction { case earlier, later }

  /// A walk through the entries that begin with the text before the cursor. libedit has no function for such a walk.
  private struct Walk {
    let typed: String
    let prefix: String
    /// The index of the shown entry. The typed text has the index `entries.count`.
    var index: Int
    var shown: String

    func matches(_ entry: String) -> Bool {
      entry.utf8.starts(with: prefix.utf8) && !entry.utf8.elementsEqual(shown.utf8)
    }
  }

  /// The line to show instead of `line`. Nil if there is no other entry. If the line was not edited, the last walk continues.
  func recall(_ direction: Direction, from line: LineBuffer.Line) -> String? {
    let before = String(line.beforeCursor)
    let typed = before + String(line.afterCursor)
    var walk = Walk(typed: typed, prefix: before, index: entries.count, shown: typed)
    if let last = self.walk, line.afterCursor.isEmpty, last.shown.utf8.elementsEqual(before.utf8) {
      walk = last
    }
    switch direction {
    case .earlier:
      guard let index = entries[..<walk.index].lastIndex(where: walk.matches) else { return nil }
      walk.index = index
    case .later:
      guard walk.index < entries.count else { return nil }
      walk.index = entries[(walk.index + 1)...].firstIndex(where: walk.matches) ?? entries.count
    }
    walk.shown = walk.index < entries.count ? entries[walk.index] : walk.typed
    self.walk = walk
    return walk.shown
  }

  func endWalk() { walk = nil }
}
