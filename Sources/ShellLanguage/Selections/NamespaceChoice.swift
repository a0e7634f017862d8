/// The namespaces a command was told.
package enum NamespaceChoice: Sendable, Hashable {
  /// None: the one in use, or the only one there is.
  case unnamed
  case named([NamespaceName])
  case all

  /// The names of the namespaces meant, in the order written.
  ///
  /// - Parameters:
  ///   - current: The one set by `use`.
  ///   - existing: Those of the store, sorted.
  ///   - creates: The command makes a namespace that is absent.
  package func resolved(
    current: String?, existing: [String], creates: Bool = false
  ) throws(ShellError) -> [String] {
    switch self {
    case .all:
      return existing
    case .named(let names):
      for name in names where !creates && !existing.contains(name.text) {
        throw Self.absent(name, existing: existing)
      }
      var seen: Set<String> = []
      return names.map(\.text).filter { seen.insert($0).inserted }
    case .unnamed:
      if let current { return [current] }
      if existing.count == 1 { return existing }
      guard !existing.isEmpty else {
        throw ShellError(
          .noSuchNamespace, "the store has no namespace", hint: "make one: set @name KEY VALUE")
      }
      let list = existing.prefix(8).map { "@\($0)" }.joined(separator: " ")
      throw ShellError(
        .usage, "which namespace? There are \(existing.count)",
        hint: "name it: \(list)\(existing.count > 8 ? " ..." : ""); or all: @*; or: use NAME")
    }
  }

  package static func absent(_ name: NamespaceName, existing: [String]) -> ShellError {
    ShellError(
      .noSuchNamespace, "there is no namespace \(Array(name.text.utf8))",
      at: name.range.isEmpty ? nil : name.range,
      hint: Suggestions.question(name.text, among: existing, mark: "@")
        ?? "namespaces lists them")
  }
}
