import CEditline

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension LineEditor {
  /// Reads the entries of earlier sessions from the file and adds those of this one to it. The file is not used if it
  /// cannot be read.
  ///
  /// - Parameter creating: False makes no file where there is none: the person wants no history.
  package func keepHistory(in file: HistoryFile, creating: Bool = true) throws(TerminalError) {
    let isThere = unsafe access(file.path, F_OK) == 0
    if creating || isThere { for entry in try file.load() { recallable(entry) } }
    historyFile = file
  }

  /// Keeps an entry, which can be several lines.
  ///
  /// Blank entries and those that begin with a space are not kept; an equal earlier one is replaced.
  /// Throws if the file could not be written, and does not use it from then on; the entry can be recalled in this session
  /// nevertheless.
  ///
  /// - Parameter inFile: False keeps it for this session only.
  package func remember(_ bytes: [UInt8], inFile: Bool = true) throws(TerminalError) {
    let entry = String(decoding: bytes, as: UTF8.self)
    guard entry.first != " ", !entry.allSatisfy(\.isWhitespace) else { return }
    let isRepeated = entries.last?.utf8.elementsEqual(entry.utf8) ?? false
    recallable(entry)
    guard inFile, !isRepeated, let historyFile else { return }
    do throws(TerminalError) {
      try historyFile.append(entry)
    } catch {
      self.historyFile = nil
      throw error
    }
  }

  /// Forgets the entries that can be recalled; the file stays as it is.
  package func forgetHistory() {
    for entry in entries { unsafe cel_history_forget(past, entry) }
    entries = []
  }

  /// The entries that can be recalled, oldest first.
  package var history: [String] { entries }

  private func recallable(_ entry: String) {
    entries.removeAll { $0.utf8.elementsEqual(entry.utf8) }
    if entries.count == HistoryFile.limit { entries.removeFirst() }
    entries.append(entry)
    unsafe cel_history_forget(past, entry)
    unsafe cel_history_enter(past, entry)
  }
}

extension LineEditor {
  enum Direction {
    case earlier
    case later
  }

  /// A walk through the entries that begin with the typed text.
  ///
  /// libedit's own search takes entries that contain it anywhere, and expressions that match.
  struct Recall {
    let typed: String
    let prefix: String
    var index: Int
    var shown: String
  }

  func recallEntry(_ direction: Direction) -> Int32 {
    var walk = currentRecall()
    guard let index = walk.next(direction, in: entries) else { return CC_ERROR }
    walk.index = index
    walk.shown = index < entries.count ? entries[index] : walk.typed
    recall = walk
    replaceLine(with: walk.shown)
    return CC_REFRESH
  }

  /// The walk that led to this line, or a new one if the line was edited since.
  private func currentRecall() -> Recall {
    let line = line
    let before = String(line.beforeCursor)
    if let recall, line.afterCursor.isEmpty, recall.shown.utf8.elementsEqual(before.utf8) {
      return recall
    }
    let typed = before + String(line.afterCursor)
    return Recall(typed: typed, prefix: before, index: entries.count, shown: typed)
  }

  private func replaceLine(with text: String) {
    let info = unsafe el_wline(editor).pointee
    unsafe el_cursor(editor, Int32(info.lastchar - info.cursor))
    deleteBeforeCursor(scalars: unsafe info.lastchar - info.buffer)
    _ = insert(text)
  }
}

extension LineEditor.Recall {
  /// The next entry in the direction; the count of entries for the typed text, nil without a match.
  fileprivate func next(_ direction: LineEditor.Direction, in entries: [String]) -> Int? {
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
