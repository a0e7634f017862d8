extension CommandTable {
  /// Looks the command up and reads its words. Errors carry their place.
  package func invocation(
    of line: CommandLine, clock: WallClock
  ) throws(ShellError) -> Invocation {
    do throws(ShellError) {
      guard case .word(let name) = line.arguments.first else {
        throw ShellError(
          .usage, "a command comes first", at: line.arguments.first?.range,
          hint: "help lists the commands")
      }
      var reader = ArgumentReader(command: try command(name), clock: clock)
      try reader.sort(line.arguments.dropFirst())
      return try reader.invocation(of: line, behind: name.range)
    } catch {
      throw line.locate(error)
    }
  }
}

/// Sorts the arguments of one command and reads them by its specification.
private struct ArgumentReader {
  let command: CommandSpec
  let clock: WallClock
  private var words: [Word] = []
  private var namespaces: [NamespaceWord] = []
  private var flags: Set<String> = []
  private var values: [String: [Value]] = [:]
  /// Where each option or word was first written, for the rules.
  private var places: [String: Range<Int>] = [:]

  init(command: CommandSpec, clock: WallClock) {
    self.command = command
    self.clock = clock
  }

  mutating func sort(_ arguments: ArraySlice<Argument>) throws(ShellError) {
    var rest = arguments
    while let argument = rest.popFirst() {
      switch argument {
      case .word(let word): words.append(word)
      case .namespace(let namespace): namespaces.append(namespace)
      case .option(let option): try read(option, from: &rest)
      }
    }
  }

  private mutating func read(
    _ option: OptionWord, from rest: inout ArraySlice<Argument>
  ) throws(ShellError) {
    guard let spec = command.option(named: option.spelling) else { throw unknown(option) }
    guard places[spec.name] == nil || spec.isRepeatable else {
      throw ShellError(
        .usage, "\(spec.name) is given twice", at: option.range, hint: "leave one out")
    }
    places[spec.name] = places[spec.name] ?? option.range
    guard let kind = spec.kind else {
      guard option.value == nil else {
        throw ShellError(
          .usage, "\(spec.name) takes no value", at: option.range, hint: "write \(spec.name)")
      }
      flags.insert(spec.name)
      return
    }
    var value = option.value
    if value == nil, case .word(let word) = rest.first {
      value = word
      rest.removeFirst()
    }
    guard let value else {
      throw ShellError(
        .usage, "\(spec.name) needs a value", at: option.range,
        hint: "say \(spec.usage); a value that begins with - or @ goes in quotes")
    }
    values[spec.name, default: []].append(try kind.value(of: value, clock))
  }

  private func unknown(_ option: OptionWord) -> ShellError {
    let names = command.options.map(\.name)
    let near = Suggestions.question(option.spelling, among: names)
    let list: SafeText =
      command.ownOptions.isEmpty
      ? "help \(command.name)"
      : "it has \(command.ownOptions.map(\.name).joined(separator: " "))   (help \(command.name))"
    return ShellError(
      .usage, "\(command.name) has no option \(Array(option.spelling.utf8))", at: option.range,
      hint: near ?? "\(list); a key that begins with - goes in quotes")
  }

  /// Gives the words to the parameters: from the front, from the back, the rest to the selection.
  mutating func invocation(
    of line: CommandLine, behind name: Range<Int>
  ) throws(ShellError) -> Invocation {
    let choice = try namespaceChoice(behind: name)
    var rest = words[...]
    for parameter in command.parameters { try fill(parameter, from: &rest, behind: name) }
    var last = rest.suffix(command.trailing.count)
    rest.removeLast(last.count)
    for parameter in command.trailing { try fill(parameter, from: &last, behind: name) }
    if command.selection == nil, let surplus = rest.first {
      throw ShellError(
        .usage, "\(surplus.bytes) is one word too many", at: surplus.range,
        hint: "usage: \(command.usage)")
    }
    try check()
    var selection: Selection?
    if let use = command.selection {
      let read = try Selection(
        namespaces: choice, words: Array(rest), values: values, flags: flags)
      guard use == .optional || !read.isBare else {
        throw ShellError(
          .usage, "\(command.name) needs to be told what", at: name,
          hint: "name keys, a filter or @namespace   (help selections)")
      }
      selection = read
    }
    return Invocation(
      command: command, line: line, namespaces: choice, selection: selection, values: values,
      flags: flags)
  }

  private mutating func fill(
    _ parameter: Parameter, from rest: inout ArraySlice<Word>, behind name: Range<Int>
  ) throws(ShellError) {
    let count =
      switch parameter.arity {
      case .one, .optional: min(rest.count, 1)
      case .many, .any: rest.count
      }
    for word in rest.prefix(count) {
      places[parameter.name] = places[parameter.name] ?? word.range
      values[parameter.name, default: []].append(try parameter.kind.value(of: word, clock))
    }
    rest.removeFirst(count)
    guard values[parameter.name] != nil || !parameter.isRequired else {
      throw ShellError(
        .usage, "\(command.name) needs \(parameter.name)", at: name,
        hint: "usage: \(command.usage)")
    }
  }

  /// The namespaces with an at sign, given to the parameters if those are what the command takes.
  private mutating func namespaceChoice(
    behind name: Range<Int>
  ) throws(ShellError) -> NamespaceChoice {
    if command.parameters.contains(where: { $0.kind == .namespace }) {
      for namespace in namespaces {
        guard case .named(let name) = namespace else {
          throw ShellError(
            .usage, "@* is not one namespace", at: namespace.range,
            hint: "usage: \(command.usage)")
        }
        words.append(Word(quoting: name))
      }
      words.sort { $0.range.lowerBound < $1.range.lowerBound }
      return .unnamed
    }
    let use = command.namespaces
    guard namespaces.count >= use.count.lowerBound else {
      throw ShellError(
        .usage, "\(command.name) needs the namespace named", at: name,
        hint: "usage: \(command.usage)")
    }
    guard namespaces.count <= use.count.upperBound else {
      let surplus = namespaces[use.count.upperBound]
      throw ShellError(
        .usage,
        use.count.upperBound == 0
          ? "\(command.name) takes no namespace" : "\(command.name) takes one namespace",
        at: surplus.range, hint: "usage: \(command.usage)")
    }
    var names: [NamespaceName] = []
    for namespace in namespaces {
      switch namespace {
      case .named(let name): names.append(name)
      case .all(let range):
        guard use.allowsAll else {
          throw ShellError(
            .usage, "\(command.name) takes one namespace, not all", at: range,
            hint: "usage: \(command.usage)")
        }
        return .all
      }
    }
    return names.isEmpty ? .unnamed : .named(names)
  }

  private func check() throws(ShellError) {
    for rule in command.rules {
      switch rule {
      case .atMostOne(let names), .exactlyOne(let names):
        let given = names.compactMap { places[$0] }.sorted { $0.lowerBound < $1.lowerBound }
        if given.count > 1 {
          throw ShellError(
            .usage, "\(names.joined(separator: " and ")) exclude each other", at: given[1],
            hint: "leave one out")
        }
        if given.isEmpty, case .exactlyOne = rule {
          throw ShellError(
            .usage, "\(command.name) needs \(names.joined(separator: " or "))", at: nil,
            hint: "usage: \(command.usage)")
        }
      case .needs(let name, let other):
        if let place = places[name], places[other] == nil {
          throw ShellError(
            .usage, "\(name) goes with \(other)", at: place, hint: "usage: \(command.usage)")
        }
      }
    }
  }
}

extension Word {
  /// A word that is the name and nothing else.
  fileprivate init(quoting name: NamespaceName) {
    let bytes = Array(name.text.utf8)
    self.init(
      bytes: bytes,
      pieces: [Piece(range: bytes.indices, isBare: false, offset: name.range.lowerBound)],
      range: name.range)
  }
}
