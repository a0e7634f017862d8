/// The steps of a pattern over characters, which are Unicode scalars or bytes that are not valid UTF-8.
struct PatternProgram: Sendable {
  enum Step {
    case character(Character32)
    case any
    /// The index of a set in `sets`. A step contains no reference, so a matcher reads steps without reference counting.
    case set(Int)
    /// Continues at both steps; the first step is preferred.
    case fork(Int, Int)
    case jump(Int)
    case assertion(PatternAssertion)
    case match

    func takes(_ character: Character32, _ sets: [CharacterSet32]) -> Bool {
      switch self {
      case .character(let wanted): wanted == character
      case .any: true
      case .set(let index): sets[index].contains(character)
      case .fork, .jump, .assertion, .match: false
      }
    }
  }

  struct TooLong: Error {}

  private static let mostSteps = 5000

  private(set) var steps: [Step] = []
  private(set) var sets: [CharacterSet32] = []
  /// The bytes of a pattern that is plain text; nil for any other pattern.
  let literal: [UInt8]?
  /// The ASCII characters with which a match can begin, one bit each; nil if a match can be empty.
  private(set) var first: UInt128?

  init(_ node: PatternNode) throws(TooLong) {
    literal = node.literal
    try append(node)
    steps.append(.match)
    first = firstCharacters
  }

  private mutating func append(_ node: PatternNode) throws(TooLong) {
    guard steps.count < Self.mostSteps else { throw TooLong() }
    switch node {
    case .character(.scalar(let scalar), ignoresCase: true)
    where scalar.lowercased != scalar || scalar.uppercased != scalar:
      let forms = [scalar, scalar.lowercased, scalar.uppercased]
      append(CharacterSet32(forms.map { .range($0...$0) }, ignoresCase: true))
    case .character(let character, _): steps.append(.character(character))
    case .set(let set) where set == .any: steps.append(.any)
    case .set(let set): append(set)
    case .assertion(let assertion): steps.append(.assertion(assertion))
    case .sequence(let parts): for part in parts { try append(part) }
    case .alternatives(let parts):
      var jumps: [Int] = []
      for part in parts.dropLast() {
        let fork = reserve()
        try append(part)
        jumps.append(reserve())
        steps[fork] = .fork(fork + 1, steps.count)
      }
      try append(parts[parts.count - 1])
      for jump in jumps { steps[jump] = .jump(steps.count) }
    case .repeated(let part, let least, let most, let isGreedy):
      try append(part, least, most, isGreedy)
    }
  }

  private mutating func append(
    _ part: PatternNode, _ least: Int, _ most: Int?, _ isGreedy: Bool
  ) throws(TooLong) {
    let start = steps.count
    for _ in 0..<least {
      try append(part)
      // A part without steps matches only empty text, so a repetition would change nothing.
      if steps.count == start { return }
    }
    func fork(_ inside: Int, _ behind: Int) -> Step {
      isGreedy ? .fork(inside, behind) : .fork(behind, inside)
    }
    guard let most else {
      let loop = reserve()
      try append(part)
      steps.append(.jump(loop))
      steps[loop] = fork(loop + 1, steps.count)
      return
    }
    var forks: [Int] = []
    for _ in least..<most {
      forks.append(reserve())
      let before = steps.count
      try append(part)
      if steps.count == before { break }
    }
    for place in forks { steps[place] = fork(place + 1, steps.count) }
  }

  private mutating func append(_ set: CharacterSet32) {
    steps.append(.set(sets.count))
    sets.append(set)
  }

  /// Reserves the place of a step that is not yet known, and returns the index of the place.
  private mutating func reserve() -> Int {
    steps.append(.match)
    return steps.count - 1
  }

  /// The steps that are reached from `start` without a character. Each assertion on the way counts as true.
  func opened(from start: Int) -> [Int] {
    var opened: [Int] = []
    var seen: Set<Int> = []
    var pending = [start]
    while let place = pending.popLast() {
      guard seen.insert(place).inserted else { continue }
      switch steps[place] {
      case .fork(let a, let b): pending += [b, a]
      case .jump(let target): pending.append(target)
      case .assertion: pending.append(place + 1)
      case .character, .any, .set, .match: opened.append(place)
      }
    }
    return opened
  }

  private var firstCharacters: UInt128? {
    var characters: UInt128 = 0
    for place in opened(from: 0) {
      switch steps[place] {
      case .character(.scalar(let scalar)) where scalar.isASCII: characters |= 1 << scalar.value
      case .set(let index): characters |= sets[index].ascii
      case .any: characters = .max
      case .match: return nil
      default: break
      }
    }
    return characters
  }
}
