/// The steps of a regular expression. A matcher follows all ways through them at once.
struct RegexProgram: Sendable {
  enum Step {
    case scalar(Unicode.Scalar)
    /// The set of that index.
    case set(Int)
    /// Continue at both; the first is preferred.
    case fork(Int, Int)
    case jump(Int)
    case assertion(RegexAssertion)
    case match
  }

  private static let mostSteps = 5000

  private(set) var steps: [Step] = []
  private(set) var sets: [RegexSet] = []
  /// The bytes to find if the expression is plain text.
  private(set) var literal: [UInt8]?
  /// The ASCII characters with which a match can begin, a bit each; nil if it can be empty.
  private(set) var first: UInt128?

  init(_ source: String, ignoresCase: Bool) throws(RegexError) {
    var parser = RegexParser(source, ignoresCase: ignoresCase)
    let node = try parser.parse()
    try append(node, parser)
    steps.append(.match)
    literal = Self.text(of: node)
    first = firstCharacters
  }

  private mutating func append(
    _ node: RegexNode, _ parser: RegexParser
  ) throws(RegexError) {
    guard steps.count < Self.mostSteps else {
      throw RegexError(
        message: "it is too long, or repeats too much", range: 0..<max(parser.source.count, 1))
    }
    switch node {
    case .scalar(let scalar, let ignoresCase):
      guard ignoresCase, scalar.lowercased != scalar || scalar.uppercased != scalar else {
        steps.append(.scalar(scalar))
        return
      }
      var set = RegexSet(ignoresCase: true)
      for form in [scalar, scalar.lowercased, scalar.uppercased] { set.insert(form...form) }
      set.finish()
      append(set)
    case .set(let set): append(set)
    case .assertion(let assertion): steps.append(.assertion(assertion))
    case .sequence(let parts): for part in parts { try append(part, parser) }
    case .alternatives(let parts):
      var jumps: [Int] = []
      for part in parts.dropLast() {
        let fork = reserve()
        try append(part, parser)
        jumps.append(reserve())
        steps[fork] = .fork(fork + 1, steps.count)
      }
      try append(parts[parts.count - 1], parser)
      for jump in jumps { steps[jump] = .jump(steps.count) }
    case .repeated(let part, let least, let most, let isGreedy):
      try append(part, least, most, isGreedy, parser)
    }
  }

  private mutating func append(
    _ part: RegexNode, _ least: Int, _ most: Int?, _ isGreedy: Bool, _ parser: RegexParser
  ) throws(RegexError) {
    let start = steps.count
    for _ in 0..<least {
      try append(part, parser)
      // A part without steps needs no repetition.
      if steps.count == start { return }
    }
    func fork(_ inside: Int, _ behind: Int) -> Step {
      isGreedy ? .fork(inside, behind) : .fork(behind, inside)
    }
    guard let most else {
      let loop = reserve()
      try append(part, parser)
      steps.append(.jump(loop))
      steps[loop] = fork(loop + 1, steps.count)
      return
    }
    var forks: [Int] = []
    for _ in least..<most {
      forks.append(reserve())
      let before = steps.count
      try append(part, parser)
      if steps.count == before { break }
    }
    for place in forks { steps[place] = fork(place + 1, steps.count) }
  }

  private mutating func append(_ set: RegexSet) {
    steps.append(.set(sets.count))
    sets.append(set)
  }

  /// A step that is known later.
  private mutating func reserve() -> Int {
    steps.append(.match)
    return steps.count - 1
  }

  /// Plain text in which letters have no other case.
  private static func text(of node: RegexNode) -> [UInt8]? {
    guard case .sequence(let parts) = node, !parts.isEmpty else { return nil }
    var bytes: [UInt8] = []
    for part in parts {
      guard case .scalar(let scalar, ignoresCase: false) = part else { return nil }
      bytes += UTF8.encode(scalar).map(Array.init) ?? []
    }
    return bytes
  }

  private var firstCharacters: UInt128? {
    var characters: UInt128 = 0
    var seen: Set<Int> = []
    var open = [0]
    while let place = open.popLast() {
      guard seen.insert(place).inserted else { continue }
      switch steps[place] {
      case .scalar(let scalar): if scalar.isASCII { characters |= 1 << UInt128(scalar.value) }
      case .set(let index): characters |= sets[index].ascii
      case .fork(let a, let b): open += [a, b]
      case .jump(let target): open.append(target)
      case .assertion: open.append(place + 1)
      case .match: return nil
      }
    }
    return characters
  }
}
