import Larder
import ShellLanguage

extension Session {
  /// The namespaces a command was told, all of which are there.
  func namespaces(_ choice: NamespaceChoice) throws -> [Store.Namespace] {
    let existing = try store.namespaces().map(\.name)
    if case .unnamed = choice, let current, !existing.contains(current) {
      throw NamespaceChoice.absent(try NamespaceName(current), existing: existing)
    }
    return try choice.resolved(current: current, existing: existing).map(store.namespace)
  }

  /// The same for a look at the whole: without a name and without one in use it is all of them.
  func namespacesOrAll(_ selection: Selection) throws -> [Store.Namespace] {
    try namespaces(
      selection.namespaces == .unnamed && current == nil ? .all : selection.namespaces)
  }

  func namespace(_ choice: NamespaceChoice) throws -> Store.Namespace {
    try namespaces(choice)[0]
  }

  /// What is known of a namespace that was there when the command began.
  func facts(of name: String) throws -> NamespaceInfo {
    guard let facts = try store.namespace(name).info() else {
      throw ShellError(
        .noSuchNamespace, "there is no namespace \(name) any more", hint: "namespaces lists them")
    }
    return facts
  }

  /// The namespace that a write goes to; it is made if there is none of that name.
  func namespaceToWrite(_ choice: NamespaceChoice) throws -> Store.Namespace {
    if case .named(let names) = choice { return store.namespace(names[0].text) }
    if let current { return store.namespace(current) }
    return try namespace(choice)
  }
}
