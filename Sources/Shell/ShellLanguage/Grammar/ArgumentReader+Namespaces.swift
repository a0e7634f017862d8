extension ArgumentReader {
  /// Lets a command that only reads name a namespace without the at sign, too.
  mutating func takeWordAsNamespace() {
    guard command.selection == nil, command.access == .reads, command.namespaces != .none,
      namespaces.isEmpty, words.count > command.parameters.count,
      // With an option, `limits` changes the store.
      values.isEmpty || command.option(named: "--yes") == nil,
      !command.parameters.contains(where: { $0.arity == .many || $0.arity == .any })
    else { return }
    do throws(ShellError) {
      namespaces = [.named(try NamespaceName(words[command.parameters.count]))]
      words.remove(at: command.parameters.count)
    } catch {
      return
    }
  }

  /// The namespaces with an at sign. If namespaces are parameters of the command, the namespaces become words instead.
  mutating func namespaceChoice(
    behind name: Range<Int>
  ) throws(ShellError) -> NamespaceChoice {
    if command.parameters.contains(where: { $0.kind == .namespace }) {
      for namespace in namespaces {
        guard case .named(let name) = namespace else {
          throw ShellError(
            .usage, "expected one namespace, not @*", at: namespace.range,
            hint: "usage: `\(command.usage)`")
        }
        words.append(Word(Array(name.text.utf8), isBare: false, at: name.range))
      }
      words.sort { $0.range.lowerBound < $1.range.lowerBound }
      return .unnamed
    }
    let use = command.namespaces
    guard namespaces.count >= use.count.lowerBound else {
      if let word = words.first, words.count == 1 { throw unexpected(word) }
      throw ShellError(
        .usage, "\(command.name) requires a namespace", at: name,
        hint: "usage: `\(command.usage)`")
    }
    guard namespaces.count <= use.count.upperBound else {
      let surplus = namespaces[use.count.upperBound]
      throw ShellError(
        .usage,
        use.count.upperBound == 0
          ? "\(command.name) takes no namespace" : "\(command.name) takes one namespace",
        at: surplus.range, hint: "usage: `\(command.usage)`")
    }
    var names: [NamespaceName] = []
    for namespace in namespaces {
      switch namespace {
      case .named(let name): names.append(name)
      case .all(let range):
        guard use.allowsAll else {
          throw ShellError(
            .usage, "\(command.name) takes one namespace, not all", at: range,
            hint: "usage: `\(command.usage)`")
        }
        return .all
      }
    }
    return names.isEmpty ? .unnamed : .named(names)
  }
}
