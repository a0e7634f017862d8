extension CommandTable {
  /// Looks up the command and reads its arguments. A thrown error has the place of the wrong word in the source.
  package func invocation(of line: CommandLine, clock: WallClock) throws(ShellError) -> Invocation {
    do throws(ShellError) {
      guard case .word(let name) = line.arguments.first else {
        throw ShellError(
          .usage, "expected a command", at: line.arguments.first?.range,
          hint: "`help` lists the commands")
      }
      let arguments = line.arguments.dropFirst()
      let command = try command(name, argumentCount: arguments.count)
      var reader = ArgumentReader(command: command, name: name.range, line: line, clock: clock)
      try reader.sort(arguments)
      return try reader.invocation()
    } catch { throw line.locate(error) }
  }
}

/// Sorts the arguments of one command, and reads the arguments by the specification of the command.
struct ArgumentReader {
  let command: CommandSpec
  /// The range of the name of the command.
  let name: Range<Int>
  let line: CommandLine
  let clock: WallClock
  var words: [Word] = []
  /// The arguments that name namespaces, with an at sign or without one.
  var namespaces: [Argument] = []
  var values: [String: [any Sendable]] = [:]
  /// The range of the first word of each option or parameter.
  var places: [String: Range<Int>] = [:]
  var ignoresCase = false

  mutating func sort(_ arguments: ArraySlice<Argument>) throws(ShellError) {
    // `-i` also applies to the values before `-i`, so the reader looks for `-i` before it reads the first value.
    ignoresCase = arguments.contains {
      if case .option(let option) = $0 { option.spelling == "-i" } else { false }
    }
    var rest = arguments
    while let argument = rest.popFirst() {
      switch argument {
      case .word(let word): words.append(word)
      case .namespace, .allNamespaces: namespaces.append(argument)
      case .option(let option): try read(option, from: &rest)
      }
    }
  }

  private mutating func read(
    _ option: OptionWord, from rest: inout ArraySlice<Argument>
  ) throws(ShellError) {
    let next: Word? = if case .word(let word) = rest.first { word } else { nil }
    guard let spec = command.option(named: option.spelling) else {
      throw unknown(option, before: next)
    }
    guard places[spec.name] == nil || spec.isRepeatable else {
      throw misuse("\(spec.name) is given twice", at: option.range, hint: "remove one of them")
    }
    places[spec.name] = places[spec.name] ?? option.range
    guard let kind = spec.kind else {
      guard option.value == nil else {
        throw misuse("\(spec.name) takes no value", at: option.range, hint: "write `\(spec.name)`")
      }
      return
    }
    if option.value == nil, next != nil { rest.removeFirst() }
    guard let value = option.value ?? next else {
      throw misuse(
        "\(spec.name) needs a value", at: option.range,
        hint: line.source == .command && spec.name.hasPrefix("--")
          ? "write `\(spec.usage)`; a value that begins with - or @ goes behind `\(spec.name)=`"
          : "write `\(spec.usage)`; quote a value that begins with - or @")
    }
    do throws(ShellError) {
      values[spec.name, default: []].append(
        try kind.value(of: value, clock, ignoresCase: ignoresCase, variables: line.variables))
    } catch { throw explained(error, of: spec, with: value) }
  }

  private func explained(
    _ error: ShellError, of option: OptionSpec, with value: Word
  ) -> ShellError {
    var explained = error
    if option.name == "--ttl", value.bytes == Array("never".utf8) {
      // A duration cannot be `never`, so the hint names an option or a command that can.
      let takesTime = command.option(named: "--until") != nil
      explained.hint = takesTime ? "use `--until never`" : "`persist` makes entries never expire"
    } else if let quoting = error.hint, error.hintForArguments != nil {
      // For the value of an option, a hint about `--` would be wrong. But quotes reach this shell in a command of `-e`.
      explained.hintForArguments = "in a command of `-e`, \(quoting)"
    }
    return explained
  }

  /// Assigns the first and the last words to the parameters, and the words between them to the selection.
  mutating func invocation() throws(ShellError) -> Invocation {
    takeWordAsNamespace()
    let choice = try namespaceChoice()
    var rest = words[...]
    for parameter in command.parameters { try fill(parameter, from: &rest) }
    if command.trailing.first?.kind == .expiry { rest = try joiningTime(rest) }
    // The last word is a path if the word begins with an unquoted dot and follows a key. The keys may be in standard input.
    let isWithoutPath =
      command.trailing.first?.kind == .path
      && (rest.count < 2 && places["--stdin"] == nil || rest.last?.leads(with: ".") == false)
    var last = rest.suffix(isWithoutPath ? 0 : command.trailing.count)
    rest.removeLast(last.count)
    for parameter in command.trailing {
      do throws(ShellError) { try fill(parameter, from: &last) } catch {
        throw explained(error, of: parameter, behind: rest)
      }
    }
    if command.selection == nil, let surplus = rest.first { throw unexpected(surplus) }
    try check()
    var selection: Selection?
    if let use = command.selection {
      let read = try Selection(
        namespaces: choice, words: rest, values: values, given: Set(places.keys))
      guard use == .optional || !read.isBare else {
        let last = command.trailing.filter(\.isRequired).map { " " + $0.usage }.joined()
        throw misuse(
          "\(command.name) requires a key, pattern or filter", at: name,
          hint:
            "add a key or a pattern: `\(command.name) KEY\(last)`; `\(command.name) @*\(last)` means every entry"
        )
      }
      selection = read
    }
    return Invocation(
      command: command, line: line, namespaces: choice, selection: selection, values: values,
      ranges: places)
  }

  /// The words, but with the last words joined to one word if they form one time, such as `tomorrow 09:00` or `2h 30m`.
  private func joiningTime(_ words: ArraySlice<Word>) throws(ShellError) -> ArraySlice<Word> {
    for count in stride(from: min(words.count, 4), to: 1, by: -1) {
      let last = words.suffix(count)
      guard let first = last.first, let end = last.last, last.allSatisfy(\.isBare) else { continue }
      let time = Word(
        Array(last.map(\.bytes).joined(separator: [.space])), isBare: true,
        at: first.range.lowerBound..<end.range.upperBound)
      guard (try? time.expiryChange(clock)) != nil else { continue }
      // If all words form the time, the first word may be a key instead, so the command is ambiguous without a filter.
      let isFiltered = Selection.options.contains { places[$0.name] != nil }
      guard count < words.count || isFiltered else {
        throw misuse(
          "\(first.bytes) may be a key or a part of the time", at: time.range,
          hint: line.source == .command
            ? "give the time as one argument behind the key"
            : "quote the key, or the time: `\(Quoting.quoted(time.bytes))`")
      }
      return words.dropLast(count) + [time]
    }
    return words
  }

  private mutating func fill(
    _ parameter: Parameter, from rest: inout ArraySlice<Word>
  ) throws(ShellError) {
    let count = parameter.isRepeated ? rest.count : min(rest.count, 1)
    for word in rest.prefix(count) {
      places[parameter.name] = places[parameter.name] ?? word.range
      values[parameter.name, default: []].append(
        try parameter.kind.value(of: word, clock, variables: line.variables))
    }
    rest.removeFirst(count)
    guard values[parameter.name] != nil || !parameter.isRequired else {
      throw misuse("\(command.name) requires \(parameter.name)", at: name)
    }
  }

  /// A better error for `expire K`, where the time is missing, and for `expire 2h @ns K`, where the time is not the last word.
  private func explained(
    _ error: ShellError, of parameter: Parameter, behind rest: ArraySlice<Word>
  ) -> ShellError {
    if rest.isEmpty, error.code == .badTime {
      return misuse(
        "\(command.name) requires \(parameter.name): \(error.message)", at: error.range,
        hint: namespaces.isEmpty ? nil : error.hint)
    }
    guard parameter.kind == .expiry,
      let word = rest.first(where: { (try? $0.expiryChange(clock)) != nil })
    else { return error }
    let others = line.arguments.map(\.range).filter { $0 != word.range } + [word.range]
    let text = others.map { String(decoding: line.text(at: $0), as: UTF8.self) }
    return misuse("the time goes last", at: word.range, hint: "`\(text.joined(separator: " "))`")
  }

  /// The error for a line that does not follow the usage of the command. If `hint` is nil, the usage is the hint.
  func misuse(_ message: SafeText, at range: Range<Int>?, hint: SafeText? = nil) -> ShellError {
    ShellError(.usage, message, at: range, hint: hint ?? "usage: `\(command.usage)`")
  }

  /// The error for a surplus word. The hint adds the at sign to a possible namespace, but not to `*`: `@*` would select all.
  func unexpected(_ word: Word) -> ShellError {
    let message: SafeText = "unexpected argument \(word.bytes)"
    guard command.namespaces != .none, namespaces.isEmpty, word.isBare, !word.isGlob,
      command.parameters.isEmpty, words.count == 1, values.isEmpty,
      let name = try? NamespaceName(word)
    else { return misuse(message, at: word.range) }
    let words = line.arguments.map(\.range).map {
      $0 == word.range
        ? Quoting.namespace(name.text) : String(decoding: line.text(at: $0), as: UTF8.self)
    }
    return misuse(message, at: word.range, hint: "`\(words.joined(separator: " "))`")
  }

  private func check() throws(ShellError) {
    for rule in command.rules {
      switch rule {
      case .atMostOne(let names), .exactlyOne(let names):
        let given = names.compactMap { places[$0] }.sorted { $0.lowerBound < $1.lowerBound }
        if given.count > 1 {
          throw misuse(
            "\(names.joined(separator: " and ")) exclude each other", at: given[1],
            hint: "remove one of them")
        }
        if given.isEmpty, case .exactlyOne = rule {
          throw misuse("\(command.name) requires \(names.joined(separator: " or "))", at: nil)
        }
      case .needs(let name, let other):
        guard let place = places[name], places[other] == nil else { continue }
        let isOfProgram =
          name == "-0" && line.source == .command && command.access == .reads
          && command.selection != nil
        let hint: SafeText? = name == "--json" ? "`-o json` is the form of the answer" : nil
        throw misuse(
          "\(name) requires \(other)", at: place,
          hint: isOfProgram ? programOptionsFirst([place]) : hint)
      }
    }
  }
}
