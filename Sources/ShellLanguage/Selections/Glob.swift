/// A compiled key pattern: `*` any run, `?` one character, `[a-z]`, `[!a-z]`, `{a,b}`.
///
/// A character is a Unicode scalar, or a byte that is no part of UTF-8. All alternatives are
/// followed side by side, as the bits of one number, so a match takes the length of the key times
/// the steps behind the prefix at most, and no memory.
package struct Glob: Sendable, Hashable {
  /// Takes one character, except for the last.
  package enum Step: Sendable, Hashable {
    case literal(Character32)
    case any
    /// The characters listed in `ranges` at this position.
    case oneOf(Int)
    /// Any character, again and again.
    case run
    case accept
  }

  /// A bit for each step.
  package typealias Steps = UInt128
  package static let mostSteps = Steps.bitWidth

  /// The pattern as bytes, for messages.
  package let text: [UInt8]
  /// What every match begins with: the range to scan.
  package let prefix: [UInt8]
  /// What follows the prefix.
  package let steps: [Step]
  /// The steps that are open where the prefix ends.
  package let start: Steps
  /// The steps that are open when a step has taken its character.
  package let following: [Steps]
  package let ranges: [CharacterRanges]

  /// Every key with the prefix matches.
  package var isPrefix: Bool { steps == [.run, .accept] }

  package func matches(_ key: [UInt8]) -> Bool {
    guard key.starts(with: prefix) else { return false }
    var here = start
    var index = prefix.count
    while index < key.count {
      let (character, end) = key.character(at: index)
      index = end
      var next: Steps = 0
      var rest = here
      while rest != 0 {
        let position = rest.trailingZeroBitCount
        rest &= rest - 1
        if takes(character, at: position) { next |= following[position] }
      }
      if next == 0 { return false }
      here = next
    }
    return here >> Steps(steps.count - 1) & 1 == 1
  }

  private func takes(_ character: Character32, at position: Int) -> Bool {
    switch steps[position] {
    case .literal(let literal): literal == character
    case .any, .run: true
    case .oneOf(let index): ranges[index].contains(character)
    case .accept: false
    }
  }
}

/// `[a-z]` or `[!a-z]`.
package struct CharacterRanges: Sendable, Hashable {
  package var ranges: [ClosedRange<UInt32>]
  package var isNegated: Bool

  package func contains(_ character: Character32) -> Bool {
    let isListed =
      switch character {
      case .scalar(let scalar): ranges.contains { $0.contains(scalar.value) }
      case .byte: false
      }
    return isListed != isNegated
  }
}
