import LarderSystem

package enum NamespaceChoice: Sendable, Hashable {
  /// The command names no namespace, and so means the namespace of `use`, or the only namespace of the store.
  case unnamed
  case named([NamespaceName])
  case all

  /// The names of the chosen namespaces, without repetitions, in the order of the line. `current` is the namespace of `use`.
  package func resolved(
    current: String?, existing: [String], remedy: SafeText = "`use NAME` first"
  ) throws(ShellError) -> [String] {
    switch self {
    case .all: return existing
    case .named(let names):
      for name in names where !existing.contains(where: name.text.isExactly) {
        throw Self.absent(name, existing: existing)
      }
      var seen: Set<ExactString> = []
      return names.map(\.text).filter { seen.insert(ExactString($0)).inserted }
    case .unnamed:
      if let current { return [current] }
      if existing.count == 1 { return existing }
      guard !existing.isEmpty else { throw Self.emptyStore }
      let list = existing.prefix(8).map(Quoting.namespace).joined(separator: " ")
      throw ShellError(
        .usage, "the command requires a namespace: the store has \(existing.count)",
        hint: "one of \(list)\(existing.count > 8 ? " ..." : ""), or @* for all, or \(remedy)")
    }
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
