import LarderShell
import LarderTerminal
import ShellLanguage

extension Options {
  static var help: String {
    DisplayWidth.wrapColumns(
      introduction + ProgramOptions.list, columns: Terminal.size()?.columns ?? 80)
  }

  private static let introduction = """
    usage: larder [OPTIONS] STORE [OPTIONS] [COMMAND [WORD...]]

    Inspects and modifies a Larder store.

    STORE is the directory of a store; with -e and -f, $LARDER_STORE is the
    default. Every word from COMMAND on belongs to the command and is not parsed
    again: after -- it is exact data. Without COMMAND, --eval and --file, larder
    shows a prompt at a terminal and reads commands from standard input elsewhere.
    The first error ends a script with its exit code; larder help exit lists them.

      larder demo                           a small store to try
      larder help [COMMAND|TOPIC]           the commands
      larder cache                          the prompt
      larder cache get @articles -- "$key"  the bytes of a value
      larder cache -e 'evict @web :k' --arg k="$key"
      larder cache -0 keys @thumbs | xargs -0 -n1 echo
      larder cache -o jsonl keys '@*' --expiring 1h | jq -r .key


    """
}

/// The scripts with which a system shell (bash, zsh or fish) completes the options and the command of a `larder` command line.
enum CompletionScript {
  private static let commands = CommandTable.standard.commands.map(\.name).joined(separator: " ")

  static func text(for shell: String) -> String {
    shell == "bash" ? bash : shell == "zsh" ? zsh : fish
  }

  /// The possible values of an option. Nil for files, for free text, and for options without a value.
  private static func words(_ option: OptionSpec) -> String? {
    switch option.kind {
    case .subject: commands
    case .choice(let words): words.joined(separator: " ")
    default: nil
    }
  }

  private static func spellings(_ option: OptionSpec) -> [String] {
    [option.short, option.name].compactMap(\.self)
  }

  private static var bash: String {
    let valued = ProgramOptions.all.filter { $0.placeholder != nil }
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
          COMPREPLY=($(compgen -W '\(ProgramOptions.all.map(\.name).joined(separator: " "))' -- "$word"))
        elif ((count == 1)); then
          COMPREPLY=($(compgen -W '\(commands)' -- "$word"))
        fi
      }
      complete -o default -F _larder larder

      """
  }

  private static var zsh: String {
    let specs = ProgramOptions.all.map { option -> String in
      let names = spellings(option)
      let value = option.placeholder.map { placeholder in
        let values = words(option).map { "(\($0))" } ?? ""
        return ":\(placeholder):\(option.kind == .file ? "_files" : values)"
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
    let lines = ProgramOptions.all.map { option -> String in
      let short = option.short.map { " -s \($0.dropFirst())" } ?? ""
      let value =
        words(option).map { " -x -a '\($0)'" }
        ?? (option.placeholder == nil ? "" : option.kind == .file ? " -r -F" : " -x")
      return
        "complete -c 'larder'\(short) -l \(option.name.dropFirst(2))\(value) -d '\(option.summary)'\n"
    }
    return lines.joined()
      + "complete -c 'larder' -n 'test (count (commandline -opc)) -eq 2' -f -a '\(commands)'\n"
  }
}
