/// The syntax of a command, for parsing, help, completion and hints.
package struct CommandSpec: Sendable {
  /// A command with `mayChange` changes the store only with some of its options.
  package enum Access: Sendable { case reads, mayChange, changes }

  package enum Group: String, Sendable, CaseIterable {
    case looking = "Look"
    case changing = "Change"
    case store = "The store"
    case shell = "The shell"
  }

  /// How many namespaces with an at sign a command takes. A command with `required` takes exactly one, or all.
  package enum NamespaceUse: Sendable {
    case none, one, any, oneOrAll, required

    var most: Int { self == .none ? 0 : self == .any ? .max : 1 }
    var allowsAll: Bool { self != .none && self != .one }
  }

  /// Without a selection, a command with `optional` applies to every entry; a command with `required` is an error.
  package enum SelectionUse: Sendable, Hashable { case optional, required }

  /// A condition on the arguments of a command. A rule names an argument as the usage line names the argument.
  package enum Rule: Sendable, Hashable {
    case atMostOne([String])
    case exactlyOne([String])
    case needs(String, String)
  }

  package let name: String
  package let aliases: [String]
  package let group: Group
  package let access: Access
  /// A sentence for help, without the name of the command.
  package let summary: String
  /// Command lines, each with a summary.
  package let examples: KeyValuePairs<String, String>
  package let namespaces: NamespaceUse
  /// The parameters before the selection. If the command takes no selection, these are all parameters.
  package let parameters: [Parameter]
  package let selection: SelectionUse?
  package let trailing: [Parameter]
  /// The command's own options, without the options of the selection.
  package let ownOptions: [OptionSpec]
  package let rules: [Rule]
  /// The fields of a line in plain output, for each form of the command. A field in brackets may be absent.
  package let plain: KeyValuePairs<String, String>

  package init(
    _ name: String, aliases: [String] = [], _ group: Group, _ access: Access, _ summary: String,
    namespaces: NamespaceUse = .none, parameters: [Parameter] = [],
    selection: SelectionUse? = nil, trailing: [Parameter] = [], options: [OptionSpec] = [],
    rules: [Rule] = [], plain: KeyValuePairs<String, String> = [:],
    examples: KeyValuePairs<String, String>
  ) {
    self.name = name
    self.aliases = aliases
    self.group = group
    self.access = access
    self.summary = summary
    self.examples = examples
    self.namespaces = selection == nil ? namespaces : .any
    self.parameters = parameters
    self.selection = selection
    self.trailing = trailing
    ownOptions = options
    self.rules = rules + (selection == nil ? [] : Selection.rules)
    self.plain = plain
  }

  /// The command's own options, then the options of the selection. An own option replaces a selection option of the same name.
  package var options: [OptionSpec] {
    guard selection != nil else { return ownOptions }
    return ownOptions
      + Selection.options.filter { option in !ownOptions.contains { $0.name == option.name } }
  }

  package func option(named name: String) -> OptionSpec? {
    (options + [Self.form]).first { $0.name == name || $0.short == name }
  }

  /// `-o`, an option of every command.
  package static let form = OptionSpec.value(
    "-o", .choice(OutputMode.allCases.map(\.rawValue)), "the form of the answer",
    placeholder: "MODE")

  /// The usage, such as `expire SELECTION TIME`, with optional parts in brackets.
  package var usage: String { ([name] + argumentUsage).joined(separator: " ") }

  package var plainForms: [(words: String, fields: String)] {
    plain.map { (words: $0.key.isEmpty ? name : "\(name) \($0.key)", fields: $0.value) }
  }

  package var argumentUsage: [String] {
    var pieces: [String] = []
    if selection == nil, namespaces != .none {
      let words = namespaces.allowsAll ? "@NS|@*" : "@NS"
      pieces.append(namespaces == .required ? words : "[\(words)]")
    }
    pieces += parameters.map(\.usage)
    if let selection { pieces.append(selection == .required ? "SELECTION" : "[SELECTION]") }
    pieces += trailing.map(\.usage)
    return pieces + ownOptions.map { "[\($0.usage)]" }
  }
}

package struct OptionSpec: Sendable, Hashable {
  package let name: String
  package let kind: ValueKind?
  package let placeholder: String?
  package let summary: String
  package let isRepeatable: Bool
  package var short: String?

  package static func flag(_ name: String, short: String? = nil, _ summary: String) -> OptionSpec {
    OptionSpec(
      name: name, kind: nil, placeholder: nil, summary: summary, isRepeatable: false, short: short)
  }

  /// - Parameter placeholder: The name of the value in usage lines. If nil, the placeholder of `kind` is used.
  package static func value(
    _ name: String, short: String? = nil, _ kind: ValueKind, _ summary: String,
    placeholder: String? = nil, isRepeatable: Bool = false
  ) -> OptionSpec {
    OptionSpec(
      name: name, kind: kind, placeholder: placeholder ?? kind.placeholder, summary: summary,
      isRepeatable: isRepeatable, short: short)
  }

  package var usage: String {
    let names = ([name] + [short].compactMap(\.self)).joined(separator: "|")
    return placeholder.map { "\(names) \($0)" } ?? names
  }
}

/// An argument that the command knows by its position.
package struct Parameter: Sendable, Hashable {
  package let name: String
  package let kind: ValueKind
  let isRequired: Bool
  /// Whether the parameter takes all remaining words.
  let isRepeated: Bool

  package static func one(_ name: String, _ kind: ValueKind) -> Parameter {
    Parameter(name: name, kind: kind, isRequired: true, isRepeated: false)
  }
  package static func optional(_ name: String, _ kind: ValueKind) -> Parameter {
    Parameter(name: name, kind: kind, isRequired: false, isRepeated: false)
  }
  /// A parameter that takes one or more words.
  package static func many(_ name: String, _ kind: ValueKind) -> Parameter {
    Parameter(name: name, kind: kind, isRequired: true, isRepeated: true)
  }
  /// A parameter that takes any number of words, or none.
  package static func any(_ name: String, _ kind: ValueKind) -> Parameter {
    Parameter(name: name, kind: kind, isRequired: false, isRepeated: true)
  }

  package var usage: String {
    // The list of choices tells a person more than the name, so the usage shows the choices.
    let shown = if case .choice = kind { kind.placeholder } else { name }
    let words = isRepeated ? "\(shown)..." : shown
    return isRequired ? words : "[\(words)]"
  }
}
