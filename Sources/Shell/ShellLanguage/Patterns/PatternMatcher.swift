/// Finds a pattern in time proportional to text length times pattern length. A matcher has state, so only one thread may use it.
package final class PatternMatcher {
  /// A possible match that begins at a byte of the text and has reached a step of the pattern.
  private typealias Way = (step: Int, start: Int)

  private static let workBetweenPauses = 1 << 15

  private let program: PatternProgram
  private let pause: () throws -> Void
  /// The ways at the present character, the preferred ways first. `next` has the ways at the next character.
  private var ways: [Way] = []
  private var next: [Way] = []
  /// For each step, the number of the last character at which a way reached the step.
  private var visited: [Int]
  private var character = 0
  private var open: [Int] = []

  init(_ program: PatternProgram, _ pause: @escaping () throws -> Void) {
    self.program = program
    self.pause = pause
    visited = Array(repeating: 0, count: program.steps.count)
  }

  package func matches(_ text: [UInt8]) throws -> Bool {
    try firstMatch(in: text[...], isAnyEnough: true) != nil
  }

  /// The range of the first match, or nil. With `isAnyEnough`, the search ends early, so the range may be a part of the match.
  package func firstMatch(
    in text: ArraySlice<UInt8>, isAnyEnough: Bool = false
  ) throws -> Range<Int>? {
    if let literal = program.literal { return try text.firstRange(of: literal, pause: pause) }
    next.removeAll(keepingCapacity: true)
    var found: Range<Int>?
    var before: Character32?
    var index = text.startIndex
    var work = 0
    repeat {
      if next.isEmpty { index = skip(from: index, in: text, &before) }
      let here = index < text.endIndex ? text.character(at: index) : nil
      let end = here?.end ?? index
      let place = (before: before, after: here?.character, isLast: end == text.endIndex)
      character += 1
      ways.removeAll(keepingCapacity: true)
      for way in next { follow(way, place) }
      if found == nil { follow((0, index), place) }
      next.removeAll(keepingCapacity: true)
      if let start = take(place.after) {
        found = start..<index
        if isAnyEnough { return found }
      }
      work += ways.count + 1
      if work > Self.workBetweenPauses {
        work = 0
        try pause()
      }
      guard here != nil else { break }
      (before, index) = (place.after, end)
    } while found == nil || !next.isEmpty
    return found
  }

  /// Moves the ways over a character. If a way has matched, returns its start and drops all less preferred ways.
  private func take(_ character: Character32?) -> Int? {
    for way in ways {
      if case .match = program.steps[way.step] { return way.start }
      if let character, program.steps[way.step].takes(character, program.sets) {
        next.append((way.step + 1, way.start))
      }
    }
    return nil
  }

  /// Adds the steps that a way reaches without a character, in the order of preference.
  private func follow(_ way: Way, _ place: PatternPlace) {
    open.append(way.step)
    while let step = open.popLast() {
      guard visited[step] != character else { continue }
      visited[step] = character
      switch program.steps[step] {
      case .fork(let preferred, let other):
        open.append(other)
        open.append(preferred)
      case .jump(let target): open.append(target)
      case .assertion(let assertion): if assertion.holds(at: place) { open.append(step + 1) }
      case .character, .any, .set, .match: ways.append((step, way.start))
      }
    }
  }

  private func skip(
    from start: Int, in text: ArraySlice<UInt8>, _ before: inout Character32?
  ) -> Int {
    guard let first = program.first else { return start }
    var index = start
    while index < text.endIndex, text[index] < 0x80, first >> UInt128(text[index]) & 1 == 0 {
      index += 1
    }
    if index > start { before = .scalar(Unicode.Scalar(text[index - 1])) }
    return index
  }
}
