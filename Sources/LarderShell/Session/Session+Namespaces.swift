import Larder
import ShellLanguage

extension Session {
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
        if let error = try QuotedWords(of: line, in: store).namespaceError() { throw error }
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
