/// An option of a command.
package struct OptionSpec: Sendable, Hashable {
  /// With its dashes.
  package let name: String
  /// Nil for a flag.
  package let kind: ValueKind?
  package let placeholder: String?
  package let summary: String
  package let isRepeatable: Bool
  /// A second spelling, such as `-y`.
  package var short: String?

  package static func flag(
    _ name: String, short: String? = nil, _ summary: String
  ) -> OptionSpec {
    OptionSpec(
      name: name, kind: nil, placeholder: nil, summary: summary, isRepeatable: false, short: short)
  }

  /// - Parameter placeholder: The value's name in usage lines; by default that of its kind.
  package static func value(
    _ name: String, _ kind: ValueKind, _ summary: String, placeholder: String? = nil,
    isRepeatable: Bool = false
  ) -> OptionSpec {
    OptionSpec(
      name: name, kind: kind, placeholder: placeholder ?? kind.placeholder, summary: summary,
      isRepeatable: isRepeatable)
  }

  /// `--limit N|all`
  package var usage: String {
    let names = ([name] + [short].compactMap(\.self)).joined(separator: "|")
    return placeholder.map { "\(names) \($0)" } ?? names
  }
}

/// A word of a command by its position.
package struct Parameter: Sendable, Hashable {
  package enum Arity: Sendable, Hashable { case one, optional, many, any }

  package let name: String
  package let kind: ValueKind
  package let arity: Arity

  package static func one(_ name: String, _ kind: ValueKind) -> Parameter {
    Parameter(name: name, kind: kind, arity: .one)
  }
  package static func optional(_ name: String, _ kind: ValueKind) -> Parameter {
    Parameter(name: name, kind: kind, arity: .optional)
  }
  /// One or more.
  package static func many(_ name: String, _ kind: ValueKind) -> Parameter {
    Parameter(name: name, kind: kind, arity: .many)
  }
  /// None or more.
  package static func any(_ name: String, _ kind: ValueKind) -> Parameter {
    Parameter(name: name, kind: kind, arity: .any)
  }

  package var isRequired: Bool { arity == .one || arity == .many }

  package var usage: String {
    // The choices tell more than a name.
    let shown = if case .choice = kind { kind.placeholder } else { name }
    return switch arity {
    case .one: shown
    case .optional: "[\(shown)]"
    case .many: "\(shown)..."
    case .any: "[\(shown)...]"
    }
  }
}
