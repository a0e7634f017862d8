/// A command with its words read: what an implementation is given.
///
/// Values are asked for by the names that the usage line shows, such as `KEY` and `--ttl`. Asking
/// for a name the command does not have is a mistake of the program and stops it.
package struct Invocation: Sendable {
  package let command: CommandSpec
  package let line: CommandLine
  /// Those written with an at sign.
  package let namespaces: NamespaceChoice
  /// For commands about the store that can be about one of its namespaces: none is named, or all are.
  package var meansStore: Bool { namespaces == .unnamed || namespaces == .all }
  /// What it is about; nil for a command that takes no selection.
  package let selection: Selection?
  package let values: [String: [Value]]

  /// Whether a flag, an option or a word was given.
  package func has(_ name: String) -> Bool { !all(name).isEmpty || flags.contains(name) }

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

  package func moment(_ name: String) -> UnixTime? {
    if case .moment(let moment) = all(name).first { moment } else { nil }
  }

  /// A size in bytes or a count.
  package func number(_ name: String) -> Int? {
    if case .number(let number) = all(name).first { number } else { nil }
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
