extension Word {
  /// A bare part of it has a character that begins a pattern.
  package var isGlob: Bool {
    let acting: StaticASCII = "*?[{"
    return pieces.contains { piece in
      piece.isBare && bytes[piece.range].contains(where: acting.bytes.contains)
    }
  }
}

extension Glob {
  /// Compiles a word; quoted and escaped parts are literal.
  package init(_ word: Word, ignoresCase: Bool = false) throws(ShellError) {
    self.ignoresCase = ignoresCase
    var parser = GlobParser(word, ignoresCase: ignoresCase)
    let nodes = try parser.parse()
    let literals = nodes.prefix {
      if case .step(.literal) = $0 { !ignoresCase } else { false }
    }
    let graph = GlobGraph(nodes, start: literals.count)
    guard graph.steps.count <= Self.mostSteps else {
      throw ShellError(
        .badPattern,
        "a pattern has at most \(Self.mostSteps - 1) characters behind its fixed prefix",
        at: word.range, hint: "shorten it with `*`")
    }
    self.word = word
    text = word.bytes
    prefix = literals.flatMap { node -> [UInt8] in
      switch node {
      case .step(.literal(.scalar(let scalar))): Array(String(scalar).utf8)
      case .step(.literal(.byte(let byte))): [byte]
      default: []
      }
    }
    steps = graph.steps
    start = graph.opened(from: literals.count)
    following = graph.following
    ranges = parser.ranges
  }
}

private struct GlobParser {
  struct Unit {
    let character: Character32
    /// The ASCII of a bare character, which may act; nil if it stands for itself.
    let acting: Unicode.Scalar?
    let offset: Int
  }

  private static let longest = 1000
  private static let deepest = 16

  private let word: Word
  private let units: [Unit]
  private var index = 0
  private var nodes: [GlobNode] = []
  private(set) var ranges: [CharacterRanges] = []

  init(_ word: Word, ignoresCase: Bool) {
    self.word = word
    var bare = Array(repeating: false, count: word.bytes.count)
    for piece in word.pieces where piece.isBare {
      for index in piece.range { bare[index] = true }
    }
    var units: [Unit] = []
    var index = 0
    while index < word.bytes.count {
      let (character, end) = word.bytes.character(at: index)
      var acting: Unicode.Scalar?
      if case .scalar(let scalar) = character, bare[index], scalar.isASCII { acting = scalar }
      units.append(
        Unit(
          character: ignoresCase ? character.folded : character, acting: acting,
          offset: word.offset(of: index)))
      index = end
    }
    self.units = units
  }

  mutating func parse() throws(ShellError) -> [GlobNode] {
    guard units.count <= Self.longest else {
      throw wrong(0, "a pattern has at most \(Self.longest) characters", "shorten it with `*`")
    }
    try parseSequence(depth: 0)
    nodes.append(.step(.accept))
    return nodes
  }

  /// Up to the end, or within braces to the comma or brace that ends the alternative.
  private mutating func parseSequence(depth: Int) throws(ShellError) {
    while index < units.count {
      let start = index
      switch units[start].acting {
      case "," where depth > 0, "}" where depth > 0:
        return
      case "*":
        guard start + 1 == units.count || units[start + 1].acting != "*" else {
          throw wrong(start, "there is no **: * already crosses / and :", "one * is enough", 2)
        }
        nodes.append(.step(.run))
      case "?":
        nodes.append(.step(.any))
      case "[":
        try parseRanges()
        continue
      case "{":
        try parseAlternatives(depth: depth + 1)
        continue
      default:
        nodes.append(.step(.literal(units[start].character)))
      }
      index += 1
    }
  }

  /// `{a,b}`: a fork to each alternative, and from the end of each a jump behind them all.
  private mutating func parseAlternatives(depth: Int) throws(ShellError) {
    let open = index
    guard depth <= Self.deepest else {
      throw wrong(open, "braces are nested deeper than \(Self.deepest)", "shorten it with `*`")
    }
    let fork = nodes.count
    nodes.append(.fork([]))
    var starts: [Int] = []
    var ends: [Int] = []
    repeat {
      index += 1
      starts.append(nodes.count)
      try parseSequence(depth: depth)
      guard index < units.count else {
        throw wrong(open, "{ has no }", "quote it if it belongs to the key")
      }
      ends.append(nodes.count)
      nodes.append(.jump(0))
    } while units[index].acting == ","
    guard starts.count > 1 else {
      throw wrong(
        open, "{} takes alternatives: {a,b}", "quote it if it belongs to the key",
        index - open + 1)
    }
    nodes[fork] = .fork(starts)
    for end in ends { nodes[end] = .jump(nodes.count) }
    index += 1
  }

  private mutating func parseRanges() throws(ShellError) {
    let open = index
    index += 1
    var set = CharacterRanges(ranges: [], isNegated: false)
    if index < units.count, units[index].acting == "!" {
      set.isNegated = true
      index += 1
    }
    let first = index
    while true {
      guard index < units.count else {
        throw wrong(open, "[ has no ]", "quote it if it belongs to the key")
      }
      // A bracket that comes first is listed, as everywhere.
      if units[index].acting == "]", index > first { break }
      set.ranges.append(try parseRange())
    }
    nodes.append(.step(.oneOf(ranges.count)))
    ranges.append(set)
    index += 1
  }

  private mutating func parseRange() throws(ShellError) -> ClosedRange<UInt32> {
    let start = index
    let low = try listed(at: index)
    index += 1
    guard index + 1 < units.count, units[index].acting == "-", units[index + 1].acting != "]"
    else { return low...low }
    let high = try listed(at: index + 1)
    index += 2
    guard low <= high else {
      throw wrong(start, "the range ends before it begins", "write the smaller one first", 3)
    }
    return low...high
  }

  private func listed(at index: Int) throws(ShellError) -> UInt32 {
    guard case .scalar(let scalar) = units[index].character else {
      throw wrong(index, "a byte that is not UTF-8 cannot be listed", "? matches it")
    }
    return scalar.value
  }

  private func wrong(
    _ index: Int, _ message: SafeText, _ hint: SafeText, _ count: Int = 1
  ) -> ShellError {
    let start = units[index].offset
    let last = units[min(index + count, units.count) - 1]
    return ShellError(
      .badPattern, message, at: start..<max(last.offset, start) + 1, hint: "\(hint)   (help globs)")
  }
}
