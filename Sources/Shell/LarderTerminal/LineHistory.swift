import CEditline

/// The entries that can be recalled at a prompt: the entries of this session and, with a file, of earlier sessions.
@safe package final class LineHistory {
  private let past: OpaquePointer
  private var file: LineEditor.HistoryFile?
  package private(set) var entries: [String] = []
  /// The walk that produced the present line.
  private var walk: Walk?

  init?() {
    guard let past = unsafe history_init() else { return nil }
    unsafe self.past = past
    unsafe cel_history_set_size(past, Int32(LineEditor.HistoryFile.limit))
  }

  deinit { unsafe history_end(past) }

  /// Lets libedit search the entries.
  @unsafe func use(in editor: OpaquePointer) { unsafe cel_use_history(editor, past) }

  /// Reads the entries of earlier sessions from the file, and later adds the entries of this session to the file. A file that
  /// cannot be read is not used; a missing file is created only if `creating` is true.
  package func keep(in file: LineEditor.HistoryFile, creating: Bool = true) throws(TerminalError) {
    if creating || file.exists { for entry in try file.load() { add(entry) } }
    self.file = file
  }

  /// Keeps an entry, which can be several lines, for this session and, with `inFile`, in the file.
  ///
  /// Blank entries and entries that begin with a space are not kept; an equal earlier entry is replaced. Throws if the file
  /// could not be written; the file is not used after that, but the entry can be recalled in this session.
  package func remember(_ bytes: [UInt8], inFile: Bool = true) throws(TerminalError) {
    let entry = String(decoding: bytes, as: UTF8.self)
    guard entry.first != " ", !entry.allSatisfy(\.isWhitespace) else { return }
    let isRepeated = entries.last?.utf8.elementsEqual(entry.utf8) ?? false
    add(entry)
    guard inFile, !isRepeated, let file else { return }
    do throws(TerminalError) {
      try file.append(entry)
    } catch {
      self.file = nil
      throw error
    }
  }

  /// Forgets the entries that can be recalled; the file stays as it is.
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

  /// A walk through the entries that begin with the text before the cursor. libedit itself searches for an expression, not for
  /// such a text.
  private struct Walk {
    let typed: String
    let prefix: String
    var index: Int
    var shown: String

    /// The index of the next entry in the direction; the number of entries stands for the typed text. Nil without a match.
    func next(_ direction: Direction, in entries: [String]) -> Int? {
      func matches(_ index: Int) -> Bool {
        let entry = entries[index]
        return entry.utf8.starts(with: prefix.utf8) && !entry.utf8.elementsEqual(shown.utf8)
      }
      switch direction {
      case .earlier: return entries[..<index].indices.last(where: matches)
      case .later:
        guard index < entries.count else { return nil }
        return entries[(index + 1)...].indices.first(where: matches) ?? entries.count
      }
    }
  }

  /// The line to show instead of `line`; nil without another entry. Continues the walk unless the line was edited since.
  func recall(_ direction: Direction, from line: LineBuffer.Line) -> String? {
    let before = String(line.beforeCursor)
    let typed = before + String(line.afterCursor)
    var walk = Walk(typed: typed, prefix: before, index: entries.count, shown: typed)
    if let last = self.walk, line.afterCursor.isEmpty, last.shown.utf8.elementsEqual(before.utf8) {
      walk = last
    }
    guard let index = walk.next(direction, in: entries) else { return nil }
    walk.index = index
    walk.shown = index < entries.count ? entries[index] : walk.typed
    self.walk = walk
    return walk.shown
  }

  func endWalk() { walk = nil }
}
