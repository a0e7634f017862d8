import LarderSystem
import ShellLanguage

enum KeyPress: Hashable {
  /// A character, never a control character.
  case text(Character)
  case enter, escape, tab, backTab, backspace, delete
  case up, down, left, right, pageUp, pageDown, home, end
  /// A letter typed with Ctrl: `c` is ^C.
  case control(Character)
  /// Pasted text. The view inserts its characters, which never act as keys.
  case paste(String)

  /// The keys that only move through the view: by a row, a page or a pane.
  static let movements: Set<KeyPress> = [
    .up, .down, .pageUp, .pageDown, .left, .right, .tab, .backTab, .text("h"), .text("j"),
    .text("k"), .text("l"),
  ]

  /// Control characters as keys, and the keys without modifiers by the bytes that a terminal sends after `ESC [` or `ESC O`.
  fileprivate static let sequences: [String: KeyPress] = [
    "\t": .tab, "\r": .enter, "\n": .enter, "\u{8}": .backspace, "\u{7F}": .backspace,
    "A": .up, "B": .down, "C": .right, "D": .left, "H": .home, "F": .end, "Z": .backTab,
    "M": .enter, "1~": .home, "7~": .home, "4~": .end, "8~": .end, "3~": .delete, "5~": .pageUp,
    "6~": .pageDown,
  ]
}

struct KeyDecoder {
  private var pending: [UInt8] = []
  private var pasted: [UInt8]?

  private static let pasteStart = Array("\u{1B}[200~".utf8)
  private static let pasteEnd = Array("\u{1B}[201~".utf8)
  /// The most bytes of a paste. A paste becomes one line, so a longer paste is cut.
  private static let longestPaste = 4096
  /// The most bytes that a terminal sends for a key.
  private static let longestSequence = 32

  /// Whether the bytes so far may be the Escape key or the start of another key. Only the next bytes can show which key.
  var isWaiting: Bool { !pending.isEmpty && pasted == nil }

  mutating func keys(of bytes: [UInt8], isFinal: Bool = false) -> [KeyPress] {
    pending += bytes
    var keys: [KeyPress] = []
    while let step = pasted == nil ? nextKey(isFinal: isFinal) : nextPaste() {
      pending.removeFirst(step.count)
      if let key = step.key { keys.append(key) }
    }
    return keys
  }

  /// The keys in the bytes, if no further bytes came in time. A single Escape is now a key. Half of a sequence gives no key.
  mutating func flush() -> [KeyPress] { pasted == nil ? keys(of: [], isFinal: true) : [] }

  /// A key at the beginning of `pending`, and the number of its bytes. The key is nil for bytes without a meaning.
  private typealias Step = (key: KeyPress?, count: Int)

  /// The next key; nil if the bytes are incomplete.
  private mutating func nextKey(isFinal: Bool) -> Step? {
    guard let first = pending.first else { return nil }
    if first == .escape { return nextSequence(isFinal: isFinal) }
    if case (.scalar(let scalar), let end) = pending.character(at: 0) {
      guard scalar.isControl else { return (.text(Character(scalar)), end) }
      let isLetter = (0x01...0x1A).contains(first)
      let key = isLetter ? KeyPress.control(Character(Unicode.Scalar(first + 0x60))) : nil
      return (KeyPress.sequences[String(scalar)] ?? key, end)
    }
    // The bytes may be the start of a character, so more bytes are needed. Other bytes that are not UTF-8 are dropped.
    if !isFinal, first >= 0xC2, first < 0xF5, pending.count < 4,
      pending.dropFirst().allSatisfy({ $0 & 0xC0 == 0x80 })
    {
      return nil
    }
    return (nil, 1)
  }

  private mutating func nextPaste() -> Step? {
    let end = pending.firstRange(of: Self.pasteEnd)
    // Without the end mark, the last bytes may be a part of this mark, so the last bytes are not yet taken as text.
    let count = end?.lowerBound ?? max(pending.count - Self.pasteEnd.count, 0)
    let bytes = Array(((pasted ?? []) + pending.prefix(count)).prefix(Self.longestPaste))
    pasted = end == nil ? bytes : nil
    pending.removeFirst(count)
    guard end != nil else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    // The text becomes a part of one line, which cannot contain newlines and tabs.
    let line = String(text.map { $0.isNewline || $0 == "\t" ? " " : $0 })
    return (.paste(line), Self.pasteEnd.count)
  }

  private mutating func nextSequence(isFinal: Bool) -> Step? {
    guard pending.count > 1 || isFinal else { return nil }
    guard pending.count > 1, [UInt8(ascii: "["), UInt8(ascii: "O")].contains(pending[1]) else {
      // For Alt with a key, a terminal sends an Escape and then the key. The decoder returns both as two keys.
      return (.escape, 1)
    }
    guard let end = pending.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else {
      guard isFinal || pending.count > Self.longestSequence else { return nil }
      return (nil, pending.count)
    }
    let sequence = Array(pending[...end])
    if sequence == Self.pasteStart { pasted = [] }
    let isNumbered = sequence.last == UInt8(ascii: "~")
    let number = isNumbered ? sequence.dropFirst(2).prefix(while: \.isDigit) : []
    let name = String(decoding: number + sequence.suffix(1), as: UTF8.self)
    return (KeyPress.sequences[name], sequence.count)
  }
}
