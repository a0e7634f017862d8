extension ArgumentReader {
  /// Lets a command that only reads take the name of a namespace also without the at sign, as in `stats lego`.
  mutating func takeWordAsNamespace() {
    guard command.selection == nil, command.access != .changes, command.namespaces != .none,
      namespaces.isEmpty, words.count > command.parameters.count,
      // With an option, `limits` changes the store, so the namespace needs its at sign.
      places.isEmpty || command.option(named: "--yes") == nil,
      !command.parameters.contains(where: \.isRepeated),
      let name = try? NamespaceName(words[command.parameters.count])
    else { return }
    namespaces = [.namespace(name)]
    words.remove(at: command.parameters.count)
  }

  /// The namespaces with an at sign. If namespaces are the parameters of the command, adds these namespaces to the words.
  mutating func namespaceChoice() throws(ShellError) -> NamespaceChoice {
    let all = namespaces.first { if case .allNamespaces = $0 { true } else { false } }
    let names = namespaces.compactMap { argument -> NamespaceName? in
      if case .namespace(let name) = argument { name } else { nil }
    }
    if command.parameters.contains(where: { $0.kind == .namespace }) {
      if let all { throw misuse("expected one namespace, not @*", at: all.range) }
      words += names.map { Word(Array($0.text.utf8), isBare: false, at: $0.range) }
      words.sort { $0.range.lowerBound < $1.range.lowerBound }
      return .unnamed
    }
    let use = command.namespaces
    guard use != .required || !namespaces.isEmpty else {
      if let word = words.first, words.count == 1 { throw unexpected(word) }
      throw misuse("\(command.name) requires a namespace", at: name)
    }
    guard namespaces.count <= use.most else {
      let number = use == .none ? "no" : "one"
      throw misuse("\(command.name) takes \(number) namespace", at: namespaces[use.most].range)
    }
    guard let all else { return names.isEmpty ? .unnamed : .named(names) }
    guard use.allowsAll else {
      throw misuse("\(command.name) takes one namespace, not all", at: all.range)
    }
    return .all
  }
}
