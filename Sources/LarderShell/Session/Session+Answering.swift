import Larder
package import ShellLanguage

extension Session {
  /// The separator between the last answer and the next.
  enum Separator {
    case none
    /// The last answer ended its line.
    case ended
    /// The last answer was a bare value: the next one begins with a newline.
    case newline
  }

  /// The present form of answers.
  var presentation: Presentation {
    let isTerminal = settings.isTerminal && sink == nil
    return Presentation(
      isVertical ? .vertical : settings.mode, isTerminal: isTerminal,
      endsWithNUL: settings.endsWithNUL, width: host.window()?.columns,
      hasColor: settings.hasColor && isTerminal, hasUnicode: settings.hasUnicode,
      clock: wallClock)
  }

  func answer(_ reply: Reply) throws { try write(presentation.bytes(of: reply)) }

  /// Acknowledges a change, unless `--quiet` is set.
  func acknowledge(_ reply: Reply) throws {
    if !settings.isQuiet { try answer(reply) }
  }

  /// All output of the session goes through here.
  func write(_ bytes: [UInt8]) throws {
    guard !bytes.isEmpty else { return }
    try output(separator == .newline ? [.newline] + bytes : bytes)
    separator = .ended
  }

  private func output(_ bytes: [UInt8]) throws {
    if let sink { try sink.write(bytes) } else { try host.write(bytes) }
  }

  /// Writes a value with nothing added, as long as it is all that is printed; in a pipe of several
  /// answers each one ends with a newline.
  func writeValue(_ pieces: (_ write: ([UInt8]) throws -> Void) throws -> Void) throws {
    guard separator == .none else {
      try pieces(write)
      return try write([.newline])
    }
    try pieces { bytes in
      try output(bytes)
      separator = .newline
    }
    separator = .newline
  }

  /// The text of the prompt: the namespace in use.
  package var promptName: String {
    "\(SafeText(current ?? "larder"))\(isReadOnly ? " (read-only)" : "")"
  }

  /// One line about the store, for the greeting.
  package func summary() throws -> String {
    do throws(LarderError) {
      let namespaces = try store.namespaces()
      let entries = namespaces.reduce(0) { $0 + $1.entries }
      let bytes = namespaces.reduce(0) { $0 + $1.bytes }
      let limits = try store.limits()
      let limit = limits.effective.bytes.map { " of \(Wording.size($0))" } ?? ""
      // A new store tells the limit that was chosen for it.
      let disk =
        namespaces.isEmpty
        ? limits.diskWords.map { ", a file of at most \($0)" } ?? "" : ""
      return "\(SafeText(store.path))   "
        + "\(Wording.count(namespaces.count, "namespace", "namespaces")), "
        + "\(Wording.entries(entries)), \(Wording.size(bytes))\(limit)\(disk)"
    } catch {
      throw ShellError(error)
    }
  }

  /// Takes a namespace into use as `use` does, though it need not be there yet.
  package func use(_ name: String) throws(ShellError) { current = try NamespaceName(name).text }
}

// Values that this program cannot read: it has no keys.

extension Session {
  private static let mostLooked = 16

  /// A note for the prompt if values are encrypted or otherwise unreadable here; nil if the first ones of each namespace are
  /// not.
  package func remark() throws -> SafeText? {
    do throws(LarderError) {
      let namespaces = try store.namespaces().prefix(Self.mostLooked)
      for info in namespaces {
        if let name = try transform(of: store.namespace(info.name)) {
          return "values are \(name); \(ShellError.unreadableHint)"
        }
      }
      return nil
    } catch {
      throw ShellError(error)
    }
  }

  /// Notes that values were stored as they are beside others that are encrypted.
  func noteTransform(
    of namespace: Store.Namespace, stored: SafeText = "this one is not",
    missed: SafeText = "the entry"
  ) throws {
    guard let name = try transform(of: namespace) else { return }
    try host.notify(
      "note: the other values of \(namespace.name) are \(name), \(stored): an application that requires it misses \(missed)"
    )
  }

  /// `encrypted (AES-GCM)` if this program cannot read one of the first values of a namespace; nil if it can.
  private func transform(of namespace: Store.Namespace) throws(LarderError) -> String? {
    let known = options.transforms.map(\.id)
    return try namespace.page(limit: Self.mostLooked).items.lazy.flatMap(\.transforms)
      .first { !known.contains($0) }?.name
  }
}
