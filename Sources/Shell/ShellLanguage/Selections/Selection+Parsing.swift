extension Selection {
  package static let options: [OptionSpec] = [
    .value("--match", .glob, "keys that match the pattern", isRepeatable: true),
    .value("--regex", .regex, "keys in which the expression is found", isRepeatable: true),
    .value("--tag", .data, "entries with this tag", placeholder: "TAG", isRepeatable: true),
    .value(
      "--contains", .data, "values that contain this text", placeholder: "TEXT", isRepeatable: true),
    .value("--expiring", .ahead, "entries that expire within this time", placeholder: "WITHIN"),
    .flag("-i", "--match, --regex, --contains and patterns ignore case"),
    .flag("--expired", "entries that have expired and are still in the file"),
    .flag("--permanent", "entries that never expire"),
    .value("--older", .ago, "entries written before this time"),
    .value("--newer", .ago, "entries written since this time"),
    .value("--idle", .ago, "entries not used since this time"),
    .value("--larger", .size, "values larger than this"),
    .value("--smaller", .size, "values smaller than this"),
    .value(
      "--where", .expression, "entries that meet a condition: `help where`", isRepeatable: true),
    .value("--sort", .order, "sort by this"),
    .flag("--reverse", "reverse the order"),
    .value("--limit", .limit, "at most so many"),
    .value("--after", .key, "start after this key"),
    .flag(
      "--stdin", "read keys from standard input, one a line, escaped as in plain output"),
    .flag("-0", "with --stdin: keys end with NUL and are raw bytes"),
  ]

  package static let rules: [CommandSpec.Rule] = [.needs("-0", "--stdin")]

  /// Combines the words with the values of the options above.
  package init(
    namespaces: NamespaceChoice, words: [Word], values: [String: [Value]], flags: Set<String>
  ) throws(ShellError) {
    self.init(namespaces: namespaces)
    ignoresCase = flags.contains("-i")
    for word in words { patterns.append(try Pattern(word, ignoresCase: ignoresCase)) }
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
    case ("--where", .expression(let expression)): filters.append(.query(expression))
    case ("--sort", .order(let order)): sort = order
    case ("--limit", .limit(let limit)): self.limit = limit
    case ("--after", .bytes(let key)): after = key
    default: preconditionFailure("\(name) is not read by its kind")
    }
  }
}

extension Selection.Pattern {
  /// A pattern if a bare part contains a pattern character, else the key itself.
  package init(_ word: Word, ignoresCase: Bool) throws(ShellError) {
    self =
      word.isGlob && !word.isHexOrBase64
      ? .glob(try Glob(word, ignoresCase: ignoresCase)) : .key(try word.key())
  }
}
