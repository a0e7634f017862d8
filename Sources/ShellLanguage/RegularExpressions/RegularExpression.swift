/// A regular expression without references to groups and lookaround, which would take matching time
/// without bound.
package struct RegularExpression: Sendable, Hashable {
  package let source: String
  package let ignoresCase: Bool
  private let program: RegexProgram

  private init(_ source: String, ignoresCase: Bool) throws(RegexError) {
    self.source = source
    self.ignoresCase = ignoresCase
    program = try RegexProgram(source, ignoresCase: ignoresCase)
  }

  package init(_ word: Word, ignoresCase: Bool = false) throws(ShellError) {
    guard let source = String(validating: word.bytes, as: UTF8.self), !source.isEmpty else {
      throw ShellError(
        .badPattern, "\(word.bytes) is not a regular expression", at: word.range,
        hint: "select keys that are not UTF-8 by their hex: form")
    }
    do throws(RegexError) {
      self = try RegularExpression(source, ignoresCase: ignoresCase)
    } catch {
      throw ShellError(
        .badPattern, "invalid regular expression: \(error.message)",
        at: Self.place(of: error.range, source, word),
        hint: source.contains("\\") && word.isBare
          ? "single quotes keep its backslashes: '\(source)'" : nil)
    }
  }

  /// A matcher for one thread.
  ///
  /// - Parameter pause: Is called at least every few milliseconds; what it throws ends the search.
  package func matcher(_ pause: @escaping () throws -> Void) -> RegexMatcher {
    RegexMatcher(program, pause)
  }

  /// The range of the error in the text of the command; the whole word if escapes moved it.
  private static func place(of range: Range<Int>, _ source: String, _ word: Word) -> Range<Int> {
    let quotes = word.isBare ? 0 : 1
    guard word.pieces.count == 1, word.range.count == word.bytes.count + 2 * quotes else {
      return word.range
    }
    let scalars = source.unicodeScalars
    func offset(_ count: Int) -> Int {
      word.range.lowerBound + quotes
        + scalars.prefix(count).reduce(0) { $0 + UTF8.width($1) }
    }
    return offset(range.lowerBound)..<offset(range.upperBound)
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.source == right.source && left.ignoresCase == right.ignoresCase
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(source)
    hasher.combine(ignoresCase)
  }
}

/// Finds a regular expression in texts, in time proportional to the length of the text times that of
/// the expression. For one thread: it keeps its lists between texts.
package final class RegexMatcher {
  /// A way through the expression that begins at a byte of the text.
  private struct Way {
    var step: Int
    let start: Int
  }

  private static let workBetweenPauses = 1 << 15

  private let program: RegexProgram
  private let pause: () throws -> Void
  /// The ways at one character, the preferred ones first, and those behind it.
  private var ways: [Way] = []
  private var next: [Way] = []
  /// The number of the character at which a way was last at a step.
  private var visited: [Int]
  private var character = 0
  private var open: [Int] = []

  init(_ program: RegexProgram, _ pause: @escaping () throws -> Void) {
    self.program = program
    self.pause = pause
    visited = Array(repeating: 0, count: program.steps.count)
  }

  package func matches(_ text: [UInt8]) throws -> Bool {
    try firstMatch(in: text[...], isAnyEnough: true) != nil
  }

  /// The bytes of the first match; in bytes that are not UTF-8 only plain text is found.
  ///
  /// - Parameter isAnyEnough: The range may be part of the match.
  package func firstMatch(
    in text: ArraySlice<UInt8>, isAnyEnough: Bool = false
  ) throws -> Range<Int>? {
    if let literal = program.literal { return text.firstRange(ofBytes: literal) }
    guard String(validating: text, as: UTF8.self) != nil else { return nil }
    next.removeAll(keepingCapacity: true)
    var found: Range<Int>?
    var before: Unicode.Scalar?
    var index = text.startIndex
    var work = 0
    repeat {
      if next.isEmpty { index = skip(from: index, in: text, &before) }
      let here = index < text.endIndex ? text.scalar(at: index) : nil
      let end = here?.end ?? index
      let place = RegexPlace(before: before, after: here?.scalar, isLast: end == text.endIndex)
      character += 1
      ways.removeAll(keepingCapacity: true)
      for way in next { follow(way, place) }
      if found == nil { follow(Way(step: 0, start: index), place) }
      next.removeAll(keepingCapacity: true)
      ways: for way in ways {
        let isTaken: Bool
        switch program.steps[way.step] {
        case .scalar(let scalar): isTaken = scalar == place.after
        case .set(let set):
          if let scalar = place.after {
            isTaken = program.sets[set].contains(scalar)
          } else {
            isTaken = false
          }
        case .match:
          found = way.start..<index
          if isAnyEnough { return found }
          // The ways behind it are less preferred.
          break ways
        case .fork, .jump, .assertion: isTaken = false
        }
        if isTaken { next.append(Way(step: way.step + 1, start: way.start)) }
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

  /// Adds the steps that are reached without a character, in the order of preference.
  private func follow(_ way: Way, _ place: RegexPlace) {
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
      case .scalar, .set, .match: ways.append(Way(step: step, start: way.start))
      }
    }
  }

  /// The next place where a match can begin.
  private func skip(
    from start: Int, in text: ArraySlice<UInt8>, _ before: inout Unicode.Scalar?
  ) -> Int {
    guard let first = program.first else { return start }
    var index = start
    while index < text.endIndex, text[index] < 0x80, first >> UInt128(text[index]) & 1 == 0 {
      index += 1
    }
    if index > start { before = Unicode.Scalar(text[index - 1]) }
    return index
  }
}

extension RandomAccessCollection<UInt8> where Index == Int {
  /// Where these bytes occur first.
  ///
  /// - Parameter ignoringCase: The bytes are in lower case, and find ASCII letters in either case.
  package func firstRange(ofBytes wanted: [UInt8], ignoringCase: Bool = false) -> Range<Int>? {
    guard count >= wanted.count else { return nil }
    for start in startIndex...(endIndex - wanted.count) {
      var length = 0
      while length < wanted.count,
        wanted[length] == (ignoringCase ? self[start + length].lowercased : self[start + length])
      {
        length += 1
      }
      if length == wanted.count { return start..<start + length }
    }
    return nil
  }
}

extension UInt8 {
  package var lowercased: UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
  }
}
