/// A command with its arguments as values. An argument has its name in the usage line, such as `KEY` or `--ttl`. A request for
/// a name that the command does not have is a programming error and traps.
package struct Invocation: Sendable {
  package let command: CommandSpec
  package let line: CommandLine
  package let namespaces: NamespaceChoice
  /// Whether the line names no namespace or all namespaces. If so, a command about the store concerns the whole store.
  package var meansStore: Bool { namespaces == .unnamed || namespaces == .all }
  package let selection: Selection?
  let values: [String: [any Sendable]]
  let ranges: [String: Range<Int>]

  package var isPreview: Bool { ranges["--dry-run"] != nil }

  package func has(_ name: String) -> Bool { !all(name).isEmpty || ranges[name] != nil }

  package func range(_ name: String) -> Range<Int>? { ranges[name] }

  package func bytes(_ name: String) -> [UInt8]? { first(name) }
  package func allBytes(_ name: String) -> [[UInt8]] { all(name).compactMap { $0 as? [UInt8] } }
  package func words(_ name: String) -> [Word] { all(name).compactMap { $0 as? Word } }
  package func namespaceNames(_ name: String) -> [NamespaceName] {
    all(name).compactMap { $0 as? NamespaceName }
  }
  package func duration(_ name: String) -> Duration? { first(name) }
  package func deadline(_ name: String) -> Deadline? { first(name) }
  package func expiryChange(_ name: String) -> ExpiryChange? { first(name) }
  package func moment(_ name: String) -> UnixTime? { first(name) }
  /// The value of an argument as a number: a size in bytes, or a count; `Int.max` for no limit.
  package func number(_ name: String) -> Int? { first(name) }
  package func columns(_ name: String) -> [QueryColumn]? { first(name) }
  package func operand(_ name: String) -> QueryColumn? { first(name) }
  package func path(_ name: String) -> QueryPath? { first(name) }
  package func choice(_ name: String) -> String? { first(name) }
  package func choices(_ name: String) -> [String]? { first(name) }

  private func first<Value>(_ name: String) -> Value? { all(name).first as? Value }

  private func all(_ name: String) -> [any Sendable] {
    precondition(
      command.option(named: name) != nil
        || (command.parameters + command.trailing).contains { $0.name == name },
      "\(command.name) has no \(name)")
    return values[name] ?? []
  }
}
