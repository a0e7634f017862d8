import LarderShell
import LarderTerminal
import ShellLanguage

extension Options.Document {
  var text: String {
    get throws(ShellError) {
      switch self {
      case .help:
        let columns = Terminal.size()?.columns ?? 80
        return DisplayWidth.wrapColumns(
          Self.introduction + Self.options, columns: columns)
      case .manual:
        return ManualPage(
          .standard, version: LarderCommand.version,
          options: DisplayWidth.wrapColumns(Self.options, columns: 78)
        ).text
      case .version:
        return "larder \(LarderCommand.version)\n"
      case .completions(let name):
        guard let script = CompletionScript.text(for: name.lowercased()) else {
          throw ShellError(
            .usage, "there are no completions for \(Array(name.utf8))",
            hint: "use one of \(CompletionScript.shells.joined(separator: ", "))")
        }
        return script
      }
    }
  }

  private static let introduction = """
    usage: larder [OPTIONS] STORE [OPTIONS] [COMMAND [WORD...]]

    Inspects and modifies a Larder store.

    STORE is the directory of a store; with -e and -f, $LARDER_STORE is the
    default. Every word from COMMAND on belongs to the command and is not parsed
    again: after -- it is exact data. Without COMMAND, --eval and --file, larder
    shows a prompt at a terminal and reads commands from standard input elsewhere.
    The first error ends a script with its exit code: 1 no such key, 2 usage, 3 no
    store, 4 store failed, 5 refused, 130 interrupted.

      larder demo                           a small store to try
      larder help [COMMAND|TOPIC]           the commands
      larder cache                          the prompt
      larder cache get @articles -- "$key"  the bytes of a value
      larder cache -e 'evict @web :k' --arg k="$key"
      larder cache -0 keys @thumbs | xargs -0 -n1 echo
      larder cache -o jsonl keys '@*' --expiring 1h | jq -r .key


    """

  private static var options: String {
    let width = ProgramOption.all.map(\.usage.count).max() ?? 0
    return ProgramOption.all.map {
      "  \(DisplayWidth.pad($0.usage, to: width))  \($0.summary)\n"
    }.joined()
  }
}

/// Completions of the program's options, and of the command behind the store.
enum CompletionScript {
  static let shells = ["zsh", "bash", "fish"]

  private static let commands = CommandTable.standard.commands.map(\.name).joined(separator: " ")

  static func text(for shell: String) -> String? {
    switch shell {
    case "bash": bash
    case "zsh": zsh
    case "fish": fish
    default: nil
    }
  }

  /// The words that a value is one of; nil for files and free text.
  private static func words(_ option: ProgramOption) -> String? {
    switch option.completion {
    case .none, .files: nil
    case .commands: commands
    case .words(let words): words.joined(separator: " ")
    }
  }

  private static func spellings(_ option: ProgramOption) -> [String] {
    (option.short.map { ["-\($0)"] } ?? []) + [option.name]
  }

  private static var bash: String {
    let valued = ProgramOption.all.filter { $0.placeholder != nil }
    let cases = valued.map { option -> String in
      let body =
        words(option).map { "COMPREPLY=($(compgen -W '\($0)' -- \"$word\")); return" } ?? "return"
      return "    \(spellings(option).joined(separator: "|"))) \(body) ;;\n"
    }.joined()
    return """
      _larder() {
        local word="${COMP_WORDS[COMP_CWORD]}" i count=0
        COMPREPLY=()
        case "${COMP_WORDS[COMP_CWORD-1]}" in
      \(cases)  esac
        for ((i = 1; i < COMP_CWORD; i++)); do
          case "${COMP_WORDS[i]}" in
          \(valued.flatMap(spellings).joined(separator: "|"))) ((i++)) ;;
          -*) ;;
          *) ((count++)) ;;
          esac
        done
        if ((count < 2)) && [[ $word == -* ]]; then
          COMPREPLY=($(compgen -W '\(ProgramOption.all.map(\.name).joined(separator: " "))' -- "$word"))
        elif ((count == 1)); then
          COMPREPLY=($(compgen -W '\(commands)' -- "$word"))
        fi
      }
      complete -o default -F _larder larder

      """
  }

  private static var zsh: String {
    let specs = ProgramOption.all.map { option -> String in
      let names = spellings(option)
      let value = option.placeholder.map { placeholder in
        let values = words(option).map { "(\($0))" } ?? ""
        return ":\(placeholder):\(option.completion.isFiles ? "_files" : values)"
      }
      let alternatives = names.count > 1 ? "{\(names.joined(separator: ","))}" : names[0]
      let summary = option.summary.replacing(":", with: "\\:")
      return "    '*'\(alternatives)'[\(summary)]\(value ?? "")' \\\n"
    }.joined()
    return """
      #compdef larder
      _larder() {
        _arguments -s -S \\
      \(specs)    '1:STORE:_files -/' '2:COMMAND:(\(commands))' '*:WORD:_files'
      }
      if [[ "${funcstack[1]}" = _larder ]]; then _larder "$@"; else compdef _larder larder; fi

      """
  }

  private static var fish: String {
    let lines = ProgramOption.all.map { option -> String in
      let short = option.short.map { " -s \($0)" } ?? ""
      let value =
        words(option).map { " -x -a '\($0)'" }
        ?? (option.placeholder == nil ? "" : option.completion.isFiles ? " -r -F" : " -x")
      return
        "complete -c 'larder'\(short) -l \(option.name.dropFirst(2))\(value) -d '\(option.summary)'\n"
    }
    return lines.joined()
      + "complete -c 'larder' -n 'test (count (commandline -opc)) -eq 2' -f -a '\(commands)'\n"
  }
}

extension ProgramOption.Completion {
  fileprivate var isFiles: Bool { if case .files = self { true } else { false } }
}
