package import Larder
package import ShellLanguage

/// Transforms of values that this program cannot revert, such as encryption, for which the program has no keys.
package struct UnknownTransforms {
  private static let mostLooked = 16

  let known: [TransformID]

  func first(of entry: Store.Entry) -> TransformID? {
    entry.transforms.first { !known.contains($0) }
  }

  /// Words such as `encrypted (AES-GCM)` if one of the first values of a namespace cannot be read; otherwise nil.
  private func name(in namespace: Store.Namespace) throws(LarderError) -> String? {
    try namespace.page(limit: Self.mostLooked).items.lazy.compactMap(first).first?.name
  }

  /// A note for the prompt if one of the first values of the store cannot be read; otherwise nil.
  package func remark(on store: Store) throws -> SafeText? {
    try ShellError.translating {
      try store.namespaces().prefix(Self.mostLooked)
        .compactMap { try name(in: store.namespace($0.name)) }
        .first.map { "values are \($0); \(ShellError.unreadableHint)" }
    }
  }

  /// A note that a command stored values without the transform of the other values. Nil if the first values can be read.
  func note(
    _ namespace: Store.Namespace, stored: SafeText = "this one is not",
    missed: SafeText = "the entry"
  ) throws -> SafeText? {
    try name(in: namespace).map { name in
      "note: the other values of \(namespace.name) are \(name), \(stored): an application that requires it misses \(missed)"
    }
  }
}

/// The entries that a command skips, because this program cannot read their values.
final class UnreadableValues {
  private let unknown: UnknownTransforms
  private let notify: (SafeText) throws -> Void
  private(set) var count = 0
  private var form: String?

  init(_ unknown: UnknownTransforms, notify: @escaping (SafeText) throws -> Void) {
    self.unknown = unknown
    self.notify = notify
  }

  /// If the value of the entry cannot be read, counts the entry and writes a note, and returns true. Otherwise returns false.
  func take(_ entry: Store.Entry) throws -> Bool {
    guard let transform = unknown.first(of: entry) else { return false }
    count += 1
    form = transform.name
    try notify("note: \(Self.description(of: entry))")
    return true
  }

  /// Words such as `the value of "a", 7 B, is encrypted (AES-GCM)`.
  static func description(of entry: Store.Entry) -> SafeText {
    let forms = entry.transforms.map(\.name).joined(separator: " and ")
    return "the value of \(entry.key.bytes), \(Wording.size(entry.size)), is \(forms)"
  }

  /// Throws if a value could not be read. `others` is the number of values that could be read.
  func check(others: Int) throws(ShellError) {
    guard let form else { return }
    throw ShellError(
      .unreadable,
      "\(Wording.count(count)) of \(Wording.count(count + others, "value", "values")) \(count == 1 ? "is" : "are") \(form)",
      hint: ShellError.unreadableHint)
  }
}
