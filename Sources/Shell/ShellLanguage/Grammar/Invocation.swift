/// A command with its arguments read by their kinds.
///
/// Values have the names of the usage line, such as `KEY` and `--ttl`. A name that the command does not have is a
/// programming error and traps.
package struct Invocation: Sendable {
  package let command: CommandSpec
  package let line: CommandLine
  /// The namespaces written with an at sign.
  package let namespaces: NamespaceChoice
  /// Whether no namespace is named, or all are: a command about the store then concerns the whole store.
  package var meansStore: Bool { namespaces == .unnamed || namespaces == .all }
  /// The selection; nil for a command without a selection.
  package let selection: Selection?
  package let values: [String: [Value]]
  let ranges: [String: Range<Int>]

  /// Whether `--dry-run` was given, so that nothing changes.
  package var isPreview: Bool { flags.contains("--dry-run") }

  /// Whether a flag, an option or a word was given.
  package func has(_ name: String) -> Bool { !all(name).isEmpty || flags.contains(name) }

  /// The place of an option or a word in the line, for errors.
  package func range(_ name: String) -> Range<Int>? { ranges[name] }

  package func bytes(_ name: String) -> [UInt8]? { allBytes(name).first }

  package func allBytes(_ name: String) -> [[UInt8]] {
    all(name).compactMap { if case .bytes(let bytes) = $0 { bytes } else { nil } }
  }

  package func namespaceNames(_ name: String) -> [NamespaceName] {
    all(name).compactMap { if case .namespace(let namespace) = $0 { namespace } else { nil } }
  }

  package func duration(_ name: String) -> Duration? {
    if case .duration(let duration) = all(name).first { duration } else { nil }
  }

  package func deadline(_ name: String) -> Deadline? {
    if case .deadline(let deadline) = all(name).first { deadline } else { nil }
  }

  package func expiryChange(_ name: String) -> ExpiryChange? {
    if case .expiry(let change) = all(name).first { change } else { nil }
  }

  package func moment(_ name: String) -> UnixTime? {
    if case .moment(let moment) = all(name).first { moment } else { nil }
  }

  /// The value of an argument as a number: a size in bytes, or a count.
  package func number(_ name: String) -> Int? {
    if case .number(let number) = all(name).first { number } else { nil }
  }

  package func columns(_ name: String) -> [QueryColumn]? {
    if case .columns(let columns) = all(name).first { columns } else { nil }
  }

  package func operand(_ name: String) -> QueryColumn? {
    if case .operand(let operand) = all(name).first { operand } else { nil }
  }

  package func path(_ name: String) -> QueryPath? {
    if case .path(let path) = all(name).first { path } else { nil }
  }

  package func choice(_ name: String) -> String? {
    if case .choice(let choice) = all(name).first { choice } else { nil }
  }

  package func choices(_ name: String) -> [String]? {
    if case .choices(let choices) = all(name).first { choices } else { nil }
  }

  package func limit(_ name: String) -> Limit? {
    if case .limit(let limit) = all(name).first { limit } else { nil }
  }

  package let flags: Set<String>

  private func all(_ name: String) -> [Value] {
    precondition(
      command.option(named: name) != nil
        || (command.parameters + command.trailing).contains { $0.name == name },
      "\(command.name) has no \(name)")
    return values[name] ?? []
  }
}
