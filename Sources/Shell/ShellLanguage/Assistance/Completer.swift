/// Finds the candidates for the Tab key. The command table has commands and options. A closure finds other names, such as keys.
package struct Completer: Sendable {
  package enum Request: Sendable, Hashable {
    case namespaces(prefix: [UInt8])
    /// Keys with a prefix, in the namespaces of the line or, if the line names no namespace, in the namespace of `use`.
    case keys(NamespaceChoice, prefix: [UInt8])
    case files(prefix: [UInt8])
    /// The names of fields, such as `a` and `a.b`, in the values of the namespaces of the line.
    case fields(NamespaceChoice)
  }

  /// `isCut` says whether more names exist than the closure looked up.
  package typealias Found = (names: [[UInt8]], isCut: Bool)

  package struct Completion: Sendable {
    /// The bytes of the line that a candidate replaces. The range ends at the cursor.
    package let range: Range<Int>
    /// The texts to insert. A text ends with a space if its word is complete.
    package var candidates: [String] = []
    package var isCut = false
  }

  package let table: CommandTable

  package init(_ table: CommandTable) { self.table = table }

  /// - Parameter line: The line up to the cursor.
  package func completion(of line: [UInt8], find: (Request) -> Found) -> Completion {
    var lexer = Lexer()
    guard (try? lexer.scan(line)) != nil else { return Completion(range: line.count..<line.count) }
    let word = lexer.current ?? Word(bytes: [], pieces: [], range: line.count..<line.count)
    guard let first = lexer.words.first else { return list(word, table.names) }
    guard let command = first.bareText.flatMap(table.command(named:)) else { return list(word, []) }
    let state = ArgumentState(lexer.words.dropFirst(), of: command)
    if let option = state.openOption { return complete(word, option.kind, state, find) }
    if !state.optionsEnded, word.leads(with: "-") {
      if let option = OptionWord(word), let value = option.value {
        return complete(value, command.option(named: option.spelling)?.kind, state, find)
      }
      let options = command.options.filter { $0.isRepeatable || !state.given.contains($0.name) }
      return list(word, options.map(\.name))
    }
    if word.leads(with: "@") {
      guard command.namespaces != .none || state.parameter?.kind == .namespace else {
        return list(word, [])
      }
      return names(word, find(.namespaces(prefix: Array(word.bytes.dropFirst()))), mark: "@")
    }
    // In `get KEY .path`, the last word is the path of a field, so the candidates are the names of fields.
    let isPath = command.trailing.first?.kind == .path && state.filled > 0 && word.leads(with: ".")
    let kind: ValueKind? = isPath ? .path : command.selection == nil ? nil : .key
    return complete(word, state.parameter?.kind ?? kind, state, find)
  }

  private func complete(
    _ word: Word, _ kind: ValueKind?, _ state: ArgumentState, _ find: (Request) -> Found
  ) -> Completion {
    switch kind {
    case .choice(let choices): list(word, choices)
    case .choices(let choices): list(word, Self.continued(word, choices))
    case .limit: list(word, ["all"])
    case .countOrNone, .sizeOrNone: list(word, ["none"])
    case .deadline, .expiry: list(word, Self.times + ["never"])
    case .ahead, .ago: list(word, Self.times)
    case .subject: list(word, table.names + HelpTopic.all.map(\.name))
    case .namespace: names(word, find(.namespaces(prefix: word.bytes)))
    case .file, .fileOrKey: names(word, find(.files(prefix: word.bytes)))
    case .key: names(word, keys(of: word, state.namespaces, find))
    case .expression, .columns, .operand, .order, .path: completeOperand(word, kind!, state, find)
    case .data, .text, .glob, .regex, .duration, .size, .number, nil: list(word, [])
    }
  }

  /// The keys that begin with a word. After `int:` or `uuid:`, the keys whose typed form (`int:10`) begins with the word.
  private func keys(
    of word: Word, _ namespaces: NamespaceChoice, _ find: (Request) -> Found
  ) -> Found {
    guard word.isBare, TypedKey.prefixes.contains(where: word.leads) else {
      return find(.keys(namespaces, prefix: word.bytes))
    }
    let marks: [[UInt8]] = word.leads(with: "int:") ? [[0xF5], [0xF6], [0xF7], [0xF8]] : [[]]
    let found = marks.map { find(.keys(namespaces, prefix: $0)) }
    let names = found.flatMap(\.names).filter { Quoting.typed($0).utf8.starts(with: word.bytes) }
    return (names, found.contains(where: \.isCut))
  }

  /// The names that can follow the last comma of a word such as `key,size,`.
  private static func continued(_ word: Word, _ names: [String]) -> [String] {
    let parts = (word.bareText ?? "").split(separator: ",", omittingEmptySubsequences: false)
    let head = parts.dropLast().map { "\($0)," }.joined()
    return names.filter { !parts.dropLast().contains($0[...]) }.map { head + $0 }
  }

  private static let times = ["now", "midnight", "noon"] + Wording.weekdays.map { $0.lowercased() }

  /// Completes a word of the shell language, such as a command. A quoted word gets no candidates.
  private func list(_ word: Word, _ names: [String]) -> Completion {
    let prefix = word.bareText?.lowercased()
    let fitting = names.filter { name in prefix.map { name.hasPrefix($0) } ?? false }
    return Completion(range: word.range, candidates: fitting.map { $0 + " " })
  }

  private func names(_ word: Word, _ found: Found, mark: String = "") -> Completion {
    let candidates = found.names.map {
      mark + Quoting.typed($0) + ($0.last == UInt8(ascii: "/") ? "" : " ")
    }
    return Completion(range: word.range, candidates: candidates, isCut: found.isCut)
  }

  /// Completes the name or path at the end of an expression, also within a quote that is still open.
  private func completeOperand(
    _ word: Word, _ kind: ValueKind, _ state: ArgumentState, _ find: (Request) -> Found
  ) -> Completion {
    // Names with other letters than ASCII have no candidates, so these letters must not separate words.
    let before = word.bytes.lastIndex {
      !QueryToken.isIdentifierByte($0) && !".[]".utf8.contains($0) && $0 < 0x80
    }
    let tail = word.bytes.dropFirst(before.map { $0 + 1 } ?? 0)
    let end = word.range.upperBound
    let isOpen = !word.isBare
    // The range below counts the bytes of the word in the line. So the line must have these bytes, after an open quote or not.
    guard word.range.count == word.bytes.count + (isOpen ? 1 : 0) else {
      return Completion(range: end..<end)
    }
    let range = end - tail.count..<end
    let text = String(decoding: tail, as: UTF8.self)
    var names: [String] = []
    if kind == .path || tail.first == UInt8(ascii: ".") || tail.isEmpty {
      let found = find(.fields(state.namespaces)).names
      names = found.map { "." + String(decoding: $0, as: UTF8.self) }
    }
    if kind == .order { names = Selection.Sort.names + names }
    if kind != .path, tail.first != UInt8(ascii: "."), kind != .order || !tail.isEmpty {
      let facts = QueryName.allCases.map(\.rawValue) + ["header.", "metadata."]
      names += facts.filter { !names.contains($0) }
      names += QueryFunction.allCases.map { "\($0.rawValue)(" }
      if kind == .expression { names += ["and", "or", "not", "exists"] }
    }
    // The names of fields have `[]` for each element, so the typed path `.a[0].` is compared as `.a[].`.
    var isInBrackets = false
    let known = text.filter {
      isInBrackets = $0 == "[" || isInBrackets && $0 != "]"
      return !isInBrackets || !$0.isNumber
    }
    let fitting = names.filter { $0.hasPrefix(known) }.map { text + $0.dropFirst(known.count) }
    // A condition usually has spaces, so the inserted text begins with a quote.
    let lead = word.bytes.isEmpty && !isOpen && kind == .expression ? "'" : ""
    return Completion(range: range, candidates: fitting.map { lead + $0 })
  }
}
