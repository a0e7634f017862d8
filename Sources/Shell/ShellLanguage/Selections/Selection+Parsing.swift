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
    .flag("--stdin", "read keys from standard input, one on each line, escaped as in plain output"),
    .flag("-0", "with --stdin: keys end with NUL and are raw bytes"),
    .flag("--json", "with --stdin: records as JSON output has them, with namespace and key"),
  ]

  package static let rules: [CommandSpec.Rule] = [
    .needs("-0", "--stdin"), .needs("--json", "--stdin"), .atMostOne(["-0", "--json"]),
  ]

  init(
    namespaces: NamespaceChoice, words: ArraySlice<Word>, values: [String: [any Sendable]],
    given: Set<String>
  ) throws(ShellError) {
    self.init(namespaces: namespaces)
    ignoresCase = given.contains("-i")
    for word in words { patterns.append(try Pattern(word, ignoresCase: ignoresCase)) }
    for option in Self.options {
      filters += (values[option.name] ?? []).compactMap { condition(option.name, $0) }
    }
    if given.contains("--expired") { filters.append(.isExpired) }
    if given.contains("--permanent") { filters.append(.never) }
    sort = values["--sort"]?.first as? Sort
    limit = values["--limit"]?.first as? Int
    after = values["--after"]?.first as? [UInt8]
    isReversed = given.contains("--reverse")
    if given.contains("--stdin") {
      input = given.contains("-0") ? .nulSeparated : given.contains("--json") ? .records : .lines
    }
    let signs: [String?] = ["=", "==", "!=", "~", "!~"]
    if values["--where"] != nil, let word = words.first(where: { signs.contains($0.bareText) }) {
      throw word.misuse(
        "\(word.bytes) is outside of the condition", "quote the condition: `--where '.n = 10'`")
    }
    guard after == nil || sort ?? .key == .key else {
      throw ShellError(
        .usage, "--after counts in the order of keys, and --sort asks for another order",
        hint: "`--limit N` shows the first of that order")
    }
  }

  /// The condition that an option means; nil for an option that is no filter.
  private func condition(_ option: String, _ value: any Sendable) -> Expression? {
    switch (option, value) {
    case ("--match", let glob as Glob): .keyMatches(glob)
    case ("--regex", let regex as RegularExpression): .keyFinds(regex)
    case ("--tag", let tag as [UInt8]): .hasTag(tag)
    case ("--contains", let text as [UInt8]): .valueContains(text, ignoringCase: ignoresCase)
    case ("--expiring", let time as UnixTime): .fact(.expires, .lessOrEqual, .time(time))
    case ("--older", let time as UnixTime): .fact(.written, .less, .time(time))
    case ("--newer", let time as UnixTime): .fact(.written, .greaterOrEqual, .time(time))
    case ("--idle", let time as UnixTime): .lastUse(before: time)
    case ("--larger", let size as Int): .fact(.size, .greater, .integer(Int128(size)))
    case ("--smaller", let size as Int): .fact(.size, .less, .integer(Int128(size)))
    case ("--where", let expression as Expression): expression
    case ("--sort", _), ("--limit", _), ("--after", _): nil
    default: preconditionFailure("\(option) is not read by its kind")
    }
  }
}

/// The conditions that the filter options mean, as expressions of `--where`.
extension Expression {
  package static func fact(
    _ name: QueryName, _ comparison: Comparison, _ constant: QueryValue
  ) -> Expression {
    .compare(.name(name), comparison, .constant(constant))
  }

  /// True for an entry that has expired and is still in the file.
  package static let isExpired = fact(.state, .equal, .string(Array("expired".utf8)))
  package static let never = fact(.expires, .equal, .null)

  package static func hasTag(_ tag: [UInt8]) -> Expression {
    .isElement(.constant(.string(tag)), .name(.tags))
  }

  /// True for an entry whose last use was before a time. If no use is known, the time of the write is tested.
  package static func lastUse(before time: UnixTime) -> Expression {
    .any([
      fact(.used, .less, .time(time)),
      .all([fact(.used, .equal, .null), fact(.written, .less, .time(time))]),
    ])
  }

  /// The tag that the condition requires; nil for a condition of another kind.
  package var tag: [UInt8]? {
    guard case .isElement(.constant(.string(let tag)), .name(.tags)) = self else { return nil }
    return tag
  }

  /// Whether only entries that expire can meet the condition. A comparison with the expiry is false for an entry without expiry.
  package var needsExpiry: Bool {
    guard case .compare(.name(let name), _, .constant(let constant)) = self else { return false }
    return (name == .expires || name == .ttl) && constant != .null
  }

  /// A range that contains all keys that can meet the condition; nil if no such range is known.
  var range: KeyRange? {
    switch self {
    case .keyMatches(let glob): .prefix(glob.prefix)
    case .compare(.name(.key), .equal, .constant(.string(let key))): .key(key)
    default: nil
    }
  }
}

extension Selection.Pattern {
  /// Makes a pattern if the word has an unquoted pattern character; otherwise the word is a key.
  package init(_ word: Word, ignoresCase: Bool) throws(ShellError) {
    self =
      word.isGlob && !word.isHexOrBase64
      ? .glob(try Glob(word, ignoresCase: ignoresCase)) : .key(try word.key())
  }
}
