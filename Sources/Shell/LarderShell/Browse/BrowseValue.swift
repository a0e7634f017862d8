import Larder
import ShellLanguage

extension BrowseState.ValueText {
  /// The view reads at most this many bytes of a value. `get --full` shows all bytes.
  private static let mostBytes = 4_000_000

  /// Reads the value of an entry as lines of at most `width` columns. Nil if the entry no longer exists.
  init?(
    _ entry: Store.Entry, width: Int, isWhole: Bool, in session: Session,
    for presentation: Presentation
  ) throws {
    let namespace = session.store.namespace(entry.namespace)
    guard try namespace.info() != nil else { return nil }
    self.entry = entry
    self.width = width
    self.isWhole = isWhole
    let clock = presentation.clock
    do {
      let found = try namespace.lookUp(entry.key.bytes) { entry, value in
        StoredValue(entry: entry, bytes: value.extracting(first: Self.mostBytes).bytes)
      }?.reading(most: Self.mostBytes, in: session)
      guard let found else { return nil }
      var text = "negative: a load found no value\n"
      if found.entry.hasValue {
        let isFull = isWhole && found.size <= Self.mostBytes
        let view = try ValueView(found, as: .auto, head: nil, isFull: isFull)
        text = String(decoding: view.content(for: presentation), as: UTF8.self)
      }
      facts = Self.facts(found.entry, found.size, clock).flatMap { Self.wrapped($0, width) }
      lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        .flatMap { Self.wrapped(String($0), width) }
    } catch {
      guard let message = Self.unreadable(error) else { throw error }
      facts = Self.facts(entry, entry.size, clock).flatMap { Self.wrapped($0, width) }
      lines = Self.wrapped(message.description, width)
    }
  }

  /// The reason why this program cannot read a value; nil for errors of other kinds.
  private static func unreadable(_ error: any Error) -> SafeText? {
    let error = (error as? LarderError).map { ShellError($0) } ?? error as? ShellError
    return error?.code == .unreadable ? error?.message : nil
  }

  private static func facts(_ entry: Store.Entry, _ size: Int, _ clock: WallClock) -> [String] {
    let state = entry.state == .stale ? "stale, " : ""
    var facts = [
      "\(Wording.size(size))  written \(clock.distance(to: entry.written.unix))",
      entry.expires == nil
        ? "never expires" : "\(state)expires \(clock.distance(to: entry.expires!.unix))",
      "version \(entry.version)  codec \(entry.codec.name)\(entry.isPinned ? "  pinned" : "")",
    ]
    if !entry.tags.isEmpty {
      facts.append("tags " + entry.tags.map { SafeText($0).description }.joined(separator: ", "))
    }
    return facts + [""]
  }

  /// Wraps at spaces, and splits long words. The sequence of a color takes no columns. A color continues on the next line.
  private static func wrapped(_ text: String, _ width: Int) -> [String] {
    let width = max(width, 1)
    guard DisplayWidth.of(Frame.plain(text)) > width else { return [text] }
    var lines: [String] = []
    var (line, used, rendition) = ("", 0, "")
    var scalars = text.unicodeScalars[...]
    while let scalar = scalars.popFirst() {
      if scalar == "\u{1B}", let numbers = Frame.takeRendition(&scalars) {
        rendition = numbers == "0" ? "" : "\u{1B}[\(numbers)m"
        line += "\u{1B}[\(numbers)m"
        continue
      }
      let columns = DisplayWidth.of(scalar)
      // After a space, the line must have room for the next word, or for a part of a long word.
      var room = 0
      if scalar == " " {
        let word = Frame.plain(String(Substring(scalars.prefix { $0 != " " })))
        room = min(DisplayWidth.of(word), width / 2)
      }
      if used + columns + room > width {
        lines.append(line)
        (line, used) = (rendition, 0)
        if scalar == " " { continue }
      }
      line.unicodeScalars.append(scalar)
      used += columns
    }
    return lines + [line]
  }
}
