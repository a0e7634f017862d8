import Larder
import ShellLanguage

extension Session {
  /// The selection of a command, and its namespaces, which exist.
  ///
  /// - Parameter wholeByDefault: Without a namespace, and without one in use, it is the whole store.
  func scope(
    of call: Invocation, wholeByDefault: Bool = false
  ) throws -> (Selection, [Store.Namespace]) {
    guard var selection = call.selection else {
      preconditionFailure("\(call.command.name) takes no selection")
    }
    if let name = try bareNamespace(selection) {
      guard call.command.access == .reads else {
        throw ShellError(
          .noSuchKey, "no entry \(Array(name.text.utf8)); it names a namespace",
          hint: "`\(call.command.name) @\(name.text)`")
      }
      try host.notify("note: reading namespace \(name.text)")
      selection.namespaces = .named([name])
      selection.patterns = []
    }
    if wholeByDefault, selection.namespaces == .unnamed, current == nil {
      selection.namespaces = .all
    }
    return (selection, try namespaces(selection.namespaces))
  }

  /// A single word that is no key but the name of a namespace.
  private func bareNamespace(_ selection: Selection) throws -> NamespaceName? {
    guard case .unnamed = selection.namespaces, selection.patterns.count == 1,
      case .key(let key) = selection.patterns[0], selection.input == nil,
      let text = String(validating: key, as: UTF8.self), text != current
    else { return nil }
    let name: NamespaceName
    do throws(ShellError) { name = try NamespaceName(text) } catch { return nil }
    guard try store.namespace(text).info() != nil else { return nil }
    let existing = try current.map { [$0] } ?? store.namespaces().map(\.name)
    guard existing.count == 1 else { return name }
    return try store.namespace(existing[0]).entry(for: key) == nil ? name : nil
  }

  /// The namespaces that a choice names, all of which exist.
  func namespaces(_ choice: NamespaceChoice) throws -> [Store.Namespace] {
    switch choice {
    case .named(let names):
      for name in names where try store.namespace(name.text).info() == nil {
        throw try absent(name)
      }
      return try choice.resolved(current: nil, existing: names.map(\.text)).map(store.namespace)
    case .unnamed:
      guard let current else {
        if let word = try quotedNamespace { throw word }
        break
      }
      let namespace = store.namespace(current)
      guard try namespace.info() != nil else { throw try absent(NamespaceName(current)) }
      return [namespace]
    case .all:
      break
    }
    return try choice.resolved(
      current: current, existing: store.namespaces().map(\.name),
      remedy: line?.source == .command ? "`-n NAME` before the command" : "`use NAME` first"
    ).map(store.namespace)
  }

  func namespace(_ choice: NamespaceChoice) throws -> Store.Namespace {
    try namespaces(choice)[0]
  }

  func absent(_ name: NamespaceName) throws -> ShellError {
    NamespaceChoice.absent(name, existing: try store.namespaces().map(\.name))
  }

  /// The facts of a namespace that existed when the command began.
  func facts(of name: String) throws -> NamespaceInfo {
    guard let facts = try store.namespace(name).info() else {
      throw ShellError(
        .noSuchNamespace, "namespace \(name) was removed meanwhile",
        hint: "`namespaces` lists them")
    }
    return facts
  }

  /// The namespace that a write goes to; the write creates it if it is absent.
  func namespaceToWrite(_ choice: NamespaceChoice) throws -> Store.Namespace {
    if case .named(let names) = choice { return store.namespace(names[0].text) }
    if let current { return store.namespace(current) }
    return try namespace(choice)
  }
}
