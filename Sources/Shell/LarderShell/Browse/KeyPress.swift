import LarderSystem
import ShellLanguage

/// A key at a full-screen view.
enum KeyPress: Hashable {
  /// A character, never a control character.
  case text(Character)
  case enter, escape, tab, backTab, backspace, delete
  case up, down, left, right, pageUp, pageDown, home, end
  /// `c` is ^C.
  case control(Character)
  /// Text that was pasted, so that no character of it acts as a key.
  case paste(String)
}

extension KeyPress {
  /// Whether the key only moves.
  var isMovement: Bool {
    switch self {
    case .up, .down, .pageUp, .pageDown, .left, .right, .tab, .backTab: true
    case .text(let character): "hjkl".contains(character)
    default: false
    }
  }
}

/// Turns the bytes of a terminal into keys, as they come.
struct KeyDecoder {
  private var pending: [UInt8] = []
  /// The bytes of a paste that has not ended.
  private var pasted: [UInt8]?

  private static let pasteStart = Array("\u{1B}[200~".utf8)
  private static let pasteEnd = Array("\u{1B}[201~".utf8)
  /// A longer paste is cut: it goes into one line.
  private static let longestPaste = 4096
  /// No key sends more.
  private static let longestSequence = 32

  /// The bytes so far may be the beginning of a key, or the Escape key alone.
  var isWaiting: Bool { !pending.isEmpty && pasted == nil }

  mutating func keys(of bytes: [UInt8]) -> [KeyPress] {
    pending += bytes
    var keys: [KeyPress] = []
    while let key = next(isFinal: false) { if let key { keys.append(key) } }
    return keys
  }

  /// The keys of the bytes that wait for more which did not come: an Escape alone, or half a sequence.
  mutating func flush() -> [KeyPress] {
    var keys: [KeyPress] = []
    while pasted == nil, let key = next(isFinal: true) { if let key { keys.append(key) } }
    return keys
  }

  /// Takes one key off the bytes; nil without a whole key, `.some(nil)` for a sequence without meaning.
  private mutating func next(isFinal: Bool) -> KeyPress?? {
    if pasted != nil { return takePaste() }
    guard let first = pending.first else { return nil }
    if first == .escape { return takeSequence(isFinal: isFinal) }
    if first < 0x20 || first == 0x7F {
      pending.removeFirst()
      return .some(Self.control(first))
    }
    let (character, end) = pending.character(at: 0)
    guard case .scalar(let scalar) = character else {
      // Bytes that are not UTF-8 are no key; a character may still be incomplete.
      if first >= 0xC2, first < 0xF5, pending.count < 4, !isFinal,
        pending.dropFirst().allSatisfy({ $0 & 0xC0 == 0x80 })
      {
        return nil
      }
      pending.removeFirst()
      return .some(nil)
    }
    pending.removeFirst(end)
    return .some(scalar.isControl ? nil : .text(Character(scalar)))
  }

  private static func control(_ byte: UInt8) -> KeyPress? {
    switch byte {
    case .tab: .tab
    case .carriageReturn, .newline: .enter
    case 0x08, 0x7F: .backspace
    case 0x01...0x1A: .control(Character(Unicode.Scalar(byte + 0x60)))
    default: nil
    }
  }

  private mutating func takePaste() -> KeyPress?? {
    guard let end = pending.firstRange(of: Self.pasteEnd) else {
      // The end may be half there; everything before it is text.
      let count = max(pending.count - Self.pasteEnd.count, 0)
      keepPasted(count)
      return nil
    }
    keepPasted(end.lowerBound)
    pending.removeFirst(Self.pasteEnd.count)
    defer { pasted = nil }
    let text = String(decoding: pasted ?? [], as: UTF8.self)
    // It goes into one line, where a control character has no place.
    return .some(.paste(String(text.map { $0.isNewline || $0 == "\t" ? " " : $0 })))
  }

  private mutating func keepPasted(_ count: Int) {
    let room = max(Self.longestPaste - (pasted?.count ?? 0), 0)
    pasted?.append(contentsOf: pending.prefix(min(count, room)))
    pending.removeFirst(count)
  }

  private mutating func takeSequence(isFinal: Bool) -> KeyPress?? {
    guard pending.count > 1 else {
      guard isFinal else { return nil }
      pending = []
      return .some(.escape)
    }
    let introducer = pending[1]
    guard introducer == UInt8(ascii: "[") || introducer == UInt8(ascii: "O") else {
      // Alt with a key sends an Escape first; an Escape typed right before another key looks the same.
      pending.removeFirst()
      return .some(.escape)
    }
    guard let end = pending.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else {
      guard isFinal || pending.count > Self.longestSequence else { return nil }
      pending = []
      return .some(nil)
    }
    let sequence = Array(pending[...end])
    pending.removeFirst(end + 1)
    if sequence == Self.pasteStart {
      pasted = []
      return .some(nil)
    }
    return .some(Self.key(Array(sequence.dropFirst(2))))
  }

  /// The key of a sequence behind `ESC [` or `ESC O`; modifiers do not matter.
  private static func key(_ sequence: [UInt8]) -> KeyPress? {
    let number = sequence.prefix(while: \.isDigit)
    switch (sequence.last, String(decoding: number, as: UTF8.self)) {
    case (UInt8(ascii: "A"), _): return .up
    case (UInt8(ascii: "B"), _): return .down
    case (UInt8(ascii: "C"), _): return .right
    case (UInt8(ascii: "D"), _): return .left
    case (UInt8(ascii: "H"), _): return .home
    case (UInt8(ascii: "F"), _): return .end
    case (UInt8(ascii: "Z"), _): return .backTab
    case (UInt8(ascii: "M"), _): return .enter
    case (UInt8(ascii: "~"), "1"), (UInt8(ascii: "~"), "7"): return .home
    case (UInt8(ascii: "~"), "4"), (UInt8(ascii: "~"), "8"): return .end
    case (UInt8(ascii: "~"), "3"): return .delete
    case (UInt8(ascii: "~"), "5"): return .pageUp
    case (UInt8(ascii: "~"), "6"): return .pageDown
    default: return nil
    }
  }
}
