import Larder

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
  var meansStore: Bool { namespaces == .unnamed || namespaces == .all }
  /// What it is about; nil for a command that takes no selection.
  package let selection: Selection?
  let values: [String: [Value]]

  /// Whether a flag, an option or a word was given.
  func has(_ name: String) -> Bool { !all(name).isEmpty || flags.contains(name) }

  func bytes(_ name: String) -> [UInt8]? { allBytes(name).first }

  func allBytes(_ name: String) -> [[UInt8]] {
    all(name).compactMap { if case .bytes(let bytes) = $0 { bytes } else { nil } }
  }

  func namespaceNames(_ name: String) -> [NamespaceName] {
    all(name).compactMap { if case .namespace(let namespace) = $0 { namespace } else { nil } }
  }

  func duration(_ name: String) -> Duration? {
    if case .duration(let duration) = all(name).first { duration } else { nil }
  }

  func deadline(_ name: String) -> Deadline? {
    if case .deadline(let deadline) = all(name).first { deadline } else { nil }
  }

  func moment(_ name: String) -> Timestamp? {
    if case .moment(let moment) = all(name).first { moment } else { nil }
  }

  /// A size in bytes or a count.
  func number(_ name: String) -> Int? {
    if case .number(let number) = all(name).first { number } else { nil }
  }

  func choice(_ name: String) -> String? {
    if case .choice(let choice) = all(name).first { choice } else { nil }
  }

  func choices(_ name: String) -> [String]? {
    if case .choices(let choices) = all(name).first { choices } else { nil }
  }

  func limit(_ name: String) -> Limit? {
    if case .limit(let limit) = all(name).first { limit } else { nil }
  }

  let flags: Set<String>

  private func all(_ name: String) -> [Value] {
    precondition(
      command.option(named: name) != nil
        || (command.parameters + command.trailing).contains { $0.name == name },
      "\(command.name) has no \(name)")
    return values[name] ?? []
  }
}
