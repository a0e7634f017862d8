/// A compiled key pattern: `*` any run, `?` one character, `[a-z]`, `[!a-z]`, `{a,b}`.
///
/// A character is a Unicode scalar, or a byte that is not valid UTF-8. Matching follows all alternatives
/// in parallel, as the bits of one number: O(key length * steps), without allocation.
package struct Glob: Sendable {
  /// Takes one character, except for the last.
  package enum Step: Sendable, Hashable {
    case literal(Character32)
    case any
    /// The characters of `ranges` at this index.
    case oneOf(Int)
    /// Any number of characters.
    case run
    case accept
  }

  /// A bit for each step.
  package typealias Steps = UInt128
  package static let mostSteps = Steps.bitWidth

  /// The pattern as bytes, for messages.
  package let text: [UInt8]
  /// The common prefix of all matches: the range to scan.
  package let prefix: [UInt8]
  /// The steps behind the prefix.
  package let steps: [Step]
  /// The steps that are open where the prefix ends.
  package let start: Steps
  /// For each step, the steps that are open when it has taken its character.
  package let following: [Steps]
  package let ranges: [CharacterRanges]
  let word: Word
  /// Letters match in either case; then there is no prefix.
  package let ignoresCase: Bool

  /// Every key with the prefix matches.
  package var isPrefix: Bool { steps == [.run, .accept] }

  package func matches(_ key: [UInt8]) -> Bool {
    guard key.starts(with: prefix) else { return false }
    var here = start
    var index = prefix.count
    while index < key.count {
      var (character, end) = key.character(at: index)
      if ignoresCase { character = character.folded }
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
    case .oneOf(let index):
      ranges[index].contains(character)
        || ignoresCase && ranges[index].contains(character.uppercased)
    case .accept: false
    }
  }
}

extension Glob: Hashable {
  /// Where the pattern was written does not matter.
  package static func == (left: Glob, right: Glob) -> Bool {
    (left.text, left.prefix, left.ignoresCase) == (right.text, right.prefix, right.ignoresCase)
      && left.steps == right.steps && left.following == right.following
      && left.start == right.start && left.ranges == right.ranges
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(text)
    hasher.combine(ignoresCase)
  }

  /// The same pattern for letters in either case.
  package var ignoringCase: Glob {
    get throws(ShellError) { try Glob(word, ignoresCase: true) }
  }

  /// The longest part of the pattern without special characters: text worth searching for.
  package var longestLiteral: [UInt8] {
    let special: StaticASCII = "*?[]{},"
    let parts = text.split(whereSeparator: special.bytes.contains)
    return parts.max { $0.count < $1.count }.map(Array.init) ?? []
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

extension Character32 {
  /// The lower-case form, if it is one scalar.
  package var folded: Character32 {
    if case .scalar(let scalar) = self { .scalar(scalar.lowercased) } else { self }
  }

  /// The upper-case form, if it is one scalar.
  fileprivate var uppercased: Character32 {
    if case .scalar(let scalar) = self { .scalar(scalar.uppercased) } else { self }
  }
}

/// The steps of a pattern with the forks between them.
package enum GlobNode {
  case step(Glob.Step)
  case fork([Int])
  case jump(Int)
}

/// Numbers the steps and follows the forks once, so that matching need not.
package struct GlobGraph {
  private let nodes: [GlobNode]
  /// The number of the step at each node.
  private var numbers: [Int: Int] = [:]
  private(set) var steps: [Glob.Step] = []

  package init(_ nodes: [GlobNode], start: Int) {
    self.nodes = nodes
    for index in start..<nodes.count {
      guard case .step(let step) = nodes[index] else { continue }
      numbers[index] = steps.count
      steps.append(step)
    }
  }

  /// For each step, the open steps after it has taken a character.
  package var following: [Glob.Steps] {
    numbers.keys.sorted().map { node in
      switch nodes[node] {
      case .step(.accept): 0
      case .step(.run): opened(from: node)
      default: opened(from: node + 1)
      }
    }
  }

  /// The steps that are reached from a node without a character.
  package func opened(from node: Int) -> Glob.Steps {
    var opened: Glob.Steps = 0
    var seen: Set<Int> = []
    var pending = [node]
    while let node = pending.popLast() {
      guard seen.insert(node).inserted else { continue }
      if let number = numbers[node] { opened |= 1 << Glob.Steps(number) }
      switch nodes[node] {
      case .step(.run): pending.append(node + 1)
      case .step: break
      case .fork(let targets): pending += targets
      case .jump(let target): pending.append(target)
      }
    }
    return opened
  }
}
