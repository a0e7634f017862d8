package import Larder
package import ShellLanguage

/// Transforms of values that this program cannot revert, for example encryption, because the program has no keys.
package struct UnknownTransforms {
  private static let mostLooked = 16

  private let known: [TransformID]

  /// - Parameter known: The transforms that this program can revert.
  init(known: [TransformID]) { self.known = known }

  func first(of entry: Store.Entry) -> TransformID? {
    entry.transforms.first { !known.contains($0) }
  }

  /// `encrypted (AES-GCM)` if one of the first values of a namespace cannot be read; otherwise nil.
  private func name(in namespace: Store.Namespace) throws(LarderError) -> String? {
    try namespace.page(limit: Self.mostLooked).items.lazy.compactMap(first).first?.name
  }

  /// A note for the prompt if one of the first values of the first namespaces cannot be read; otherwise nil.
  package func remark(on store: Store) throws -> SafeText? {
    do throws(LarderError) {
      for info in try store.namespaces().prefix(Self.mostLooked) {
        if let name = try name(in: store.namespace(info.name)) {
          return "values are \(name); \(ShellError.unreadableHint)"
        }
      }
      return nil
    } catch {
      throw ShellError(error)
    }
  }

  /// A note that values were stored as they are; nil unless one of the first values of the namespace cannot be read.
  func note(
    _ namespace: Store.Namespace, stored: SafeText = "this one is not",
    missed: SafeText = "the entry"
  ) throws -> SafeText? {
    try name(in: namespace).map { name in
      "note: the other values of \(namespace.name) are \(name), \(stored): an application that requires it misses \(missed)"
    }
  }
}
