/// A compiled key pattern: `*` any run, `?` one character, `[a-z]`, `[!a-z]`, `{a,b}`.
///
/// A character is a Unicode scalar, or a byte that is no part of UTF-8. All alternatives are
/// followed side by side, so a match takes at most the length of the key times that of the pattern.
package struct Glob: Sendable, Hashable {
  enum Step: Sendable, Hashable {
    case literal(Character32)
    case any
    case oneOf(CharacterRanges)
    /// Stays for any character, or goes on without one.
    case run
    case fork([Int])
    case jump(Int)
    case accept
  }

  /// The pattern as bytes, for messages.
  package let text: [UInt8]
  /// What every match begins with: the range to scan.
  package let prefix: [UInt8]
  /// What follows the prefix.
  let steps: [Step]

  /// Every key with the prefix matches.
  package var isPrefix: Bool { steps == [.run, .accept] }

  package func matches(_ key: [UInt8]) -> Bool {
    guard key.starts(with: prefix) else { return false }
    if isPrefix { return true }
    var here = Threads(count: steps.count)
    var next = Threads(count: steps.count)
    here.add(0, following: steps)
    var index = prefix.count
    while index < key.count {
      let (character, end) = key.character(at: index)
      index = end
      next.removeAll()
      for position in here.positions {
        switch steps[position] {
        case .literal(let literal) where literal == character: break
        case .any: break
        case .oneOf(let ranges) where ranges.contains(character): break
        case .run:
          next.add(position, following: steps)
          continue
        default: continue
        }
        next.add(position + 1, following: steps)
      }
      if next.positions.isEmpty { return false }
      swap(&here, &next)
    }
    return here.positions.contains { steps[$0] == .accept }
  }
}

/// The steps a match has reached, each at most once.
private struct Threads {
  private(set) var positions: [Int] = []
  private var isMember: [Bool]
  private var pending: [Int] = []

  init(count: Int) { isMember = Array(repeating: false, count: count) }

  mutating func removeAll() {
    for position in positions { isMember[position] = false }
    positions.removeAll(keepingCapacity: true)
  }

  /// Adds a step and all that is reached from it without a character.
  mutating func add(_ position: Int, following steps: [Glob.Step]) {
    pending.append(position)
    while let position = pending.popLast() {
      guard !isMember[position] else { continue }
      isMember[position] = true
      positions.append(position)
      switch steps[position] {
      case .run: pending.append(position + 1)
      case .fork(let targets): pending.append(contentsOf: targets)
      case .jump(let target): pending.append(target)
      case .literal, .any, .oneOf, .accept: break
      }
    }
  }
}

/// `[a-z]` or `[!a-z]`.
struct CharacterRanges: Sendable, Hashable {
  var ranges: [ClosedRange<UInt32>]
  var isNegated: Bool

  func contains(_ character: Character32) -> Bool {
    let isListed =
      switch character {
      case .scalar(let scalar): ranges.contains { $0.contains(scalar.value) }
      case .byte: false
      }
    return isListed != isNegated
  }
}
