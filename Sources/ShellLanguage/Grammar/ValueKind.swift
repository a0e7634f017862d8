/// What an option or a parameter takes; decides how its word is read, shown and completed.
package enum ValueKind: Sendable, Hashable {
  /// Bytes: `hex:` and `b64:` are decoded.
  case data
  /// The bytes of one key, never a pattern.
  case key
  /// The bytes of the word as they are.
  case text
  case file
  case namespace
  case glob
  case regex
  /// A length of time.
  case duration
  /// A time to come, or `never`.
  case deadline
  /// A time to come.
  case ahead
  /// A time gone by, where a duration counts back.
  case ago
  case size
  case count
  /// A count, or `all`.
  case limit
  /// A count, or `none`.
  case countOrNone
  /// A size, or `none`.
  case sizeOrNone
  case choice([String])
  /// Some of them, with commas in between.
  case choices([String])
  /// The name of a command or a topic of the help.
  case subject

  /// How usage lines write it.
  package var placeholder: String {
    switch self {
    case .data: "VALUE"
    case .key: "KEY"
    case .text: "TEXT"
    case .file: "FILE"
    case .namespace: "NS"
    case .glob: "GLOB"
    case .regex: "RE"
    case .duration: "D"
    case .deadline, .ahead: "TIME"
    case .ago: "AGE"
    case .size: "SIZE"
    case .count: "N"
    case .limit: "N|all"
    case .countOrNone: "N|none"
    case .sizeOrNone: "SIZE|none"
    case .choice(let names): names.joined(separator: "|")
    case .choices(let names): names.joined(separator: ",")
    case .subject: "COMMAND|TOPIC"
    }
  }
}

/// A word by its kind.
package enum Value: Sendable, Hashable {
  case bytes([UInt8])
  case namespace(NamespaceName)
  case glob(Glob)
  case regex(KeyRegex)
  case duration(Duration)
  case deadline(Deadline)
  case moment(UnixTime)
  case number(Int)
  case limit(Limit)
  case choice(String)
  case choices([String])
}

/// A number, or no bound: `all` or `none`.
package enum Limit: Sendable, Hashable {
  case all
  case count(Int)
}

extension ValueKind {
  /// Reads a word.
  package func value(of word: Word, _ clock: WallClock) throws(ShellError) -> Value {
    switch self {
    case .data: .bytes(try word.data())
    case .key: .bytes(try word.key())
    case .text, .file, .subject: .bytes(word.bytes)
    case .namespace: .namespace(try NamespaceName(word))
    case .glob: .glob(try Glob(word))
    case .regex: .regex(try KeyRegex(word))
    case .duration: .duration(try word.duration())
    case .deadline: .deadline(try word.deadline(clock))
    case .ahead: .moment(try word.timeAhead(clock))
    case .ago: .moment(try word.timeAgo(clock))
    case .size: .number(try word.size())
    case .count: .number(try word.count())
    case .limit: .limit(word.bareText?.lowercased() == "all" ? .all : .count(try word.count()))
    case .countOrNone: .limit(word.isNone ? .all : .count(try word.count()))
    case .sizeOrNone: .limit(word.isNone ? .all : .count(try word.size()))
    case .choice(let names): .choice(try word.choice(of: names))
    case .choices(let names): .choices(try word.choices(of: names))
    }
  }
}

extension Word {
  fileprivate var isNone: Bool { bareText?.lowercased() == "none" }

  fileprivate func choices(of names: [String]) throws(ShellError) -> [String] {
    let parts = bareText?.lowercased().split(separator: ",").map(String.init) ?? []
    if !parts.isEmpty, parts.allSatisfy(names.contains) { return parts }
    let wrong = parts.first { !names.contains($0) }
    throw ShellError(
      .usage,
      "\(wrong.map { Array($0.utf8) } ?? bytes) is not one of \(names.joined(separator: " "))",
      at: range,
      hint: wrong.flatMap { Suggestions.question($0, among: names) }
        ?? "write some of them with commas in between: \(names.prefix(2).joined(separator: ","))")
  }

  fileprivate func choice(of names: [String]) throws(ShellError) -> String {
    if let name = bareText?.lowercased(), names.contains(name) { return name }
    let list = "one of \(names.joined(separator: " "))"
    let near = bareText.flatMap { Suggestions.question($0, among: names) }
    throw ShellError(
      .usage, "\(bytes) is not \(list)", at: range,
      hint: near ?? (isBare ? "say \(list)" : "write it without the quotes"))
  }
}
