package enum NamespaceChoice: Sendable, Hashable {
  /// The command names no namespace, and so means the namespace of `use`, or the only namespace of the store.
  case unnamed
  case named([NamespaceName])
  case all

  /// The error for a command without a namespace in a store with no namespace or with several.
  package static func unclear(among existing: [String], remedy: SafeText) -> ShellError {
    guard !existing.isEmpty else { return emptyStore }
    let list = existing.prefix(8).map(Quoting.namespace).joined(separator: " ")
    return ShellError(
      .usage, "the command requires a namespace: the store has \(existing.count)",
      hint: "one of \(list)\(existing.count > 8 ? " ..." : ""), or @* for all, or \(remedy)")
  }

  package static let emptyStore = ShellError(
    .noSuchNamespace, "the store has no namespace", hint: "`set @name KEY VALUE` creates one")

  package static func absent(_ name: NamespaceName, existing: [String]) -> ShellError {
    ShellError(
      .noSuchNamespace, "no namespace \(Array(name.text.utf8))",
      at: name.range.isEmpty ? nil : name.range,
      hint: Suggestions.question(name.text, among: existing, form: Quoting.namespace)
        ?? "`namespaces` lists them")
  }
}
