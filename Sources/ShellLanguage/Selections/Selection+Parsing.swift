extension Selection {
  package static let options: [OptionSpec] = [
    .value("--match", .glob, "keys that match", isRepeatable: true),
    .value("--regex", .regex, "keys in which it is found", isRepeatable: true),
    .value("--tag", .data, "entries with this tag", placeholder: "TAG", isRepeatable: true),
    .value(
      "--contains", .data, "values that hold this text", placeholder: "TEXT", isRepeatable: true),
    .value("--expiring", .ahead, "entries that expire within this time", placeholder: "WITHIN"),
    .flag("--expired", "entries that have expired and are still in the file"),
    .flag("--permanent", "entries that never expire"),
    .value("--older", .ago, "entries written longer ago"),
    .value("--newer", .ago, "entries written since"),
    .value("--idle", .ago, "entries not used since"),
    .value("--larger", .size, "values larger than this"),
    .value("--smaller", .size, "values smaller than this"),
    .value("--sort", .choice(Sort.allCases.map(\.rawValue)), "the order"),
    .flag("--reverse", "the order backwards"),
    .value("--limit", .limit, "how many at most"),
    .value("--after", .key, "begin behind this key"),
    .flag(
      "--stdin", "read more keys from standard input, a line each, as plain output writes them"),
    .flag("-0", "with --stdin: keys end with a NUL and are taken byte for byte"),
  ]

  package static let rules: [CommandSpec.Rule] = [.needs("-0", "--stdin")]

  /// Reads the words and the options above, whose values were read by their kinds.
  package init(
    namespaces: NamespaceChoice, words: [Word], values: [String: [Value]], flags: Set<String>
  ) throws(ShellError) {
    self.init(namespaces: namespaces)
    for word in words { patterns.append(try Pattern(word)) }
    for option in Self.options {
      for value in values[option.name] ?? [] { apply(option.name, value) }
    }
    if flags.contains("--expired") { filters.append(.expired) }
    if flags.contains("--permanent") { filters.append(.permanent) }
    isReversed = flags.contains("--reverse")
    if flags.contains("--stdin") { input = flags.contains("-0") ? .nulSeparated : .lines }
  }

  private mutating func apply(_ name: String, _ value: Value) {
    switch (name, value) {
    case ("--match", .glob(let glob)): filters.append(.match(glob))
    case ("--regex", .regex(let regex)): filters.append(.regex(regex))
    case ("--tag", .bytes(let tag)): filters.append(.tag(tag))
    case ("--contains", .bytes(let text)): filters.append(.contains(text))
    case ("--expiring", .moment(let time)): filters.append(.expiring(by: time))
    case ("--older", .moment(let time)): filters.append(.older(than: time))
    case ("--newer", .moment(let time)): filters.append(.newer(than: time))
    case ("--idle", .moment(let time)): filters.append(.idle(since: time))
    case ("--larger", .number(let size)): filters.append(.larger(than: size))
    case ("--smaller", .number(let size)): filters.append(.smaller(than: size))
    case ("--sort", .choice(let name)): sort = Sort(rawValue: name)
    case ("--limit", .limit(let limit)): self.limit = limit
    case ("--after", .bytes(let key)): after = key
    default: preconditionFailure("\(name) is not read by its kind")
    }
  }
}

extension Selection.Pattern {
  /// A pattern if a bare part has a character that makes it one, else the key itself.
  package init(_ word: Word) throws(ShellError) {
    self = word.isGlob && !word.isHexOrBase64 ? .glob(try Glob(word)) : .key(try word.key())
  }
}
