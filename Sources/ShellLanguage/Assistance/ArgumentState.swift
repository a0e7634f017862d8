/// The meaning of the words before the cursor; tolerant, for completion and hints.
package struct ArgumentState {
  /// An option whose value comes next.
  private(set) var openOption: OptionSpec?
  /// The parameter the next word fills; nil if it belongs to the selection, or is too many.
  private(set) var parameter: Parameter?
  /// How many words filled parameters.
  private(set) var filled = 0
  private(set) var given: Set<String> = []
  private(set) var optionsEnded = false
  private(set) var namespaces = NamespaceChoice.unnamed

  package init(_ words: [Word], of command: CommandSpec) {
    for word in words {
      if openOption != nil {
        openOption = nil
      } else if !optionsEnded, word.bareText == "--" {
        optionsEnded = true
      } else {
        do throws(ShellError) {
          settle(try Argument(optionsEnded ? word.quoted : word), command)
        } catch {
          // A wrong word gets its error when the line runs; here it counts as a word.
          filled += 1
        }
      }
    }
    let takesMany = command.parameters.last.map { $0.arity == .many || $0.arity == .any } ?? false
    if filled < command.parameters.count {
      parameter = command.parameters[filled]
    } else if takesMany {
      parameter = command.parameters.last
    }
  }

  private mutating func settle(_ argument: Argument, _ command: CommandSpec) {
    switch argument {
    case .word:
      filled += 1
    case .option(let option):
      given.insert(option.spelling)
      guard let spec = command.option(named: option.spelling) else { return }
      if spec.kind != nil, option.value == nil { openOption = spec }
    case .namespace(.all):
      namespaces = .all
    case .namespace(.named(let name)):
      if command.parameters.contains(where: { $0.kind == .namespace }) { filled += 1 }
      if case .named(let names) = namespaces {
        namespaces = .named(names + [name])
      } else {
        namespaces = .named([name])
      }
    }
  }
}
