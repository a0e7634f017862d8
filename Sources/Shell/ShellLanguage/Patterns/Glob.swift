/// A key pattern: `*` is any text, `?` one character, `[a-z]` and `[!a-z]` a character of a set, `{a,b}` one of several texts.
/// A pattern must match the whole key. A test allocates no memory: each bit of a number says whether the test reached a step.
package struct Glob: Sendable {
  /// A set of steps: a bit for each step that takes a character, and a bit for the end.
  private typealias Steps = UInt128

  /// The common prefix of all matches; empty if letters match in either case. A scan reads only the keys with this prefix.
  package let prefix: [UInt8]
  private let word: Word
  private let node: PatternNode
  private let steps: [PatternProgram.Step]
  private let sets: [CharacterSet32]
  private let start: Steps
  /// For each step, the steps that are reached when the step takes its character.
  private let following: [Steps]

  /// - Parameter isOption: Whether the word is the value of an option. In a wholly quoted value, special characters still act.
  package init(_ word: Word, ignoresCase: Bool = false, isOption: Bool = false) throws(ShellError) {
    self.word =
      isOption && !word.isGlob
      ? Word(word.bytes, isBare: true, at: word.place(of: word.bytes.indices)) : word
    var parser = GlobParser(self.word, ignoresCase: ignoresCase, isOption: isOption)
    let parts = try parser.parse()
    let fixed = parts.prefix { $0.literal != nil }
    prefix = fixed.flatMap { $0.literal ?? [] }
    node = .sequence(Array(parts[fixed.count...]))
    guard let program = try? PatternProgram(node), case let places = program.opening,
      places.count <= Steps.bitWidth
    else {
      throw ShellError(
        .badPattern,
        "a pattern has at most \(Steps.bitWidth - 1) characters behind its fixed prefix",
        at: word.range, hint: "shorten it with `*`")
    }
    func bits(from place: Int) -> Steps {
      program.opened(from: place).reduce(0) { $0 | 1 << Steps(places.firstIndex(of: $1) ?? 0) }
    }
    steps = places.map { program.steps[$0] }
    sets = program.sets
    start = bits(from: 0)
    following = places.map { $0 + 1 < program.steps.count ? bits(from: $0 + 1) : 0 }
  }

  package func matches(_ key: [UInt8]) -> Bool {
    guard key.starts(with: prefix) else { return false }
    var here = start
    var index = prefix.count
    while index < key.count {
      let (character, end) = key.character(at: index)
      index = end
      var next: Steps = 0
      while here != 0 {
        let position = here.trailingZeroBitCount
        here &= here - 1
        if steps[position].takes(character, sets) { next |= following[position] }
      }
      if next == 0 { return false }
      here = next
    }
    return here >> Steps(steps.count - 1) & 1 == 1
  }

  package var ignoringCase: Glob { get throws(ShellError) { try Glob(word, ignoresCase: true) } }

  /// The longest part of the pattern without special characters. For a suggestion, the shell looks for values with this text.
  package var longestLiteral: [UInt8] {
    let parts = word.bytes.split { "*?[]{},".utf8.contains($0) }
    return parts.max { $0.count < $1.count }.map(Array.init) ?? []
  }
}

extension PatternProgram {
  /// The steps that take a character, and the step that ends a match.
  fileprivate var opening: [Int] {
    steps.indices.filter {
      switch steps[$0] {
      case .character, .any, .set, .match: true
      case .fork, .jump, .assertion: false
      }
    }
  }
}

extension Glob: Equatable {
  /// Compares the patterns. The places of the two patterns in a command line may differ.
  package static func == (left: Glob, right: Glob) -> Bool {
    (left.prefix, left.node) == (right.prefix, right.node)
  }
}
