/// The kind of a value of an option or parameter. The kind decides how a word is read, shown and completed.
package enum ValueKind: Sendable, Hashable {
  /// Bytes that a person types as text, or in an encoded form after `hex:` or `b64:`.
  case data
  /// The bytes of one key, never a pattern.
  case key
  /// The bytes of the word, unchanged, even after `hex:` or `b64:`.
  case text
  /// A word that the command reads as a file or as a key.
  case fileOrKey
  case file, namespace, glob, regex, duration
  /// A time, or `never`. `2h` means 2 hours from now; `09:00` means the next 09:00.
  case deadline
  /// A time as in `deadline`, `never`, or `+DURATION`, which is added to the present expiry.
  case expiry
  /// A time as in `deadline`, but not `never`.
  case ahead
  /// A past time. `2h` means 2 hours ago; `09:00` means the last 09:00.
  case ago
  case size
  case number(ClosedRange<Int>)
  /// A number. The words `all` and `none` mean `Int.max`.
  case limit, countOrNone, sizeOrNone
  case choice([String])
  /// One or more words of this list, with commas between the words.
  case choices([String])
  case expression, columns, operand
  /// A sort key of `--sort`: a fact or an operand.
  case order
  case path, subject

  package static let count = number(0...Int.max)

  package var placeholder: String {
    switch self {
    case .data: "VALUE"
    case .key: "KEY"
    case .text: "TEXT"
    case .file, .fileOrKey: "FILE"
    case .namespace: "NS"
    case .glob: "GLOB"
    case .regex: "RE"
    case .duration: "D"
    case .deadline, .ahead: "TIME"
    case .expiry: "TIME|+D"
    case .ago: "AGE"
    case .size: "SIZE"
    case .number: "N"
    case .limit: "N|all"
    case .countOrNone: "N|none"
    case .sizeOrNone: "SIZE|none"
    case .choice(let names): names.joined(separator: "|")
    case .choices(let names): names.joined(separator: ",")
    case .expression: "EXPR"
    case .columns: "EXPR,..."
    case .operand: "OPERAND"
    case .order: (Selection.Sort.names + ["OPERAND"]).joined(separator: "|")
    case .path: ".PATH"
    case .subject: "COMMAND|TOPIC"
    }
  }

  /// Reads a word as a value of this kind. All values of one kind have the same Swift type.
  package func value(
    of word: Word, _ clock: WallClock, ignoresCase: Bool = false, variables: Variables = Variables()
  ) throws(ShellError) -> any Sendable {
    switch self {
    case .data: return try word.data()
    case .key: return try word.key()
    case .text, .file, .subject: return word.bytes
    case .fileOrKey: return word
    case .namespace: return try NamespaceName(word)
    case .glob: return try Glob(word, ignoresCase: ignoresCase, isOption: true)
    case .regex: return try RegularExpression(word, ignoresCase: ignoresCase)
    case .duration: return try word.duration()
    case .deadline: return try word.deadline(clock)
    case .expiry: return try word.expiryChange(clock)
    case .ahead: return try word.timeAhead(clock)
    case .ago: return try word.timeAgo(clock)
    case .size: return try word.size()
    case .number(let bounds): return try word.count(within: bounds)
    case .limit: return try word.text == "all" ? Int.max : word.count()
    case .countOrNone: return try word.text == "none" ? Int.max : word.count()
    case .sizeOrNone: return try word.text == "none" ? Int.max : word.size()
    case .expression: return try word.expression(clock, variables)
    case .columns: return try word.columns(clock, variables)
    case .operand: return try word.operand(clock, variables)
    case .order: return try word.order(clock, variables)
    case .path: return try word.path()
    case .choice(let names): return try word.choice(of: names)
    case .choices(let names): return try word.choices(of: names)
    }
  }
}

extension Word {
  /// The text in lower case. Quotes are ignored, because quotes do not change the value of an option.
  fileprivate var text: String? { String(validating: bytes, as: UTF8.self)?.lowercased() }

  fileprivate func count(within bounds: ClosedRange<Int>) throws(ShellError) -> Int {
    let most: SafeText = bounds.upperBound == .max ? "" : " to \(Wording.count(bounds.upperBound))"
    let hint: SafeText = "use a number from \(Wording.count(bounds.lowerBound))\(most)"
    let number: Int
    do throws(ShellError) { number = try count() } catch {
      guard bounds.upperBound < .max else { throw error }
      throw ShellError(error.code, error.message, at: range, hint: hint)
    }
    guard !bounds.contains(number) else { return number }
    throw misuse("\(bytes) is out of range", hint)
  }

  fileprivate func order(
    _ clock: WallClock, _ variables: Variables
  ) throws(ShellError) -> Selection.Sort {
    if let text, let sort = Selection.Sort.named(text) { return sort }
    if leads(with: "-") {
      throw misuse(
        "\(bytes) is not an order",
        "`--sort \(String(decoding: bytes.dropFirst(), as: UTF8.self)) --reverse`")
    }
    do throws(ShellError) { return .operand(try operand(clock, variables).operand) } catch {
      guard let text, let near = Suggestions.question(text, among: Selection.Sort.names) else {
        throw error
      }
      throw misuse("\(bytes) is not one of \(Selection.Sort.names.joined(separator: " "))", near)
    }
  }

  fileprivate func choices(of names: [String]) throws(ShellError) -> [String] {
    let parts = text?.split(separator: ",").map(String.init) ?? []
    if !parts.isEmpty, parts.allSatisfy(names.contains) { return parts }
    let wrong = parts.first { !names.contains($0) }
    throw misuse(
      "\(wrong.map { Array($0.utf8) } ?? bytes) is not one of \(names.joined(separator: " "))",
      wrong.flatMap { Suggestions.question($0, among: names) }
        ?? "separate several by commas: `\(names.prefix(2).joined(separator: ","))`")
  }

  fileprivate func choice(of names: [String]) throws(ShellError) -> String {
    if let text, names.contains(text) { return text }
    let list = "one of \(names.joined(separator: " "))"
    throw misuse(
      "\(bytes) is not \(list)",
      text.flatMap { Suggestions.question($0, among: names) } ?? "use \(list)")
  }
}
