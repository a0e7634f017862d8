/// What there is to know beside the commands.
package enum HelpTopic: String, Sendable, CaseIterable {
  case selections, times, sizes, quoting, globs, output, scripts, keys

  package var text: String {
    switch self {
    case .selections: Self.selectionText
    case .times: Self.timeText
    case .sizes: Self.sizeText
    case .quoting: Self.quotingText
    case .globs: Self.globText
    case .output: Self.outputText
    case .scripts: Self.scriptText
    case .keys: Self.keyText
    }
  }

  /// The filters are listed from what the parser reads.
  private static var selectionText: String {
    let width = Selection.options.map { $0.usage.count }.max() ?? 0
    let options = Selection.options.map {
      "  \(Help.pad($0.usage, to: width))  \($0.summary)\n"
    }
    return """
      A selection says which entries a command is about, in the same words for every command:
      preview it with keys, then change the verb.

        [@NS ...] [KEY or GLOB ...] [filters]

      Without a namespace it is the one set by use, or the only one; @* is all of them. An entry
      must match one of the keys or patterns, and all of the filters.

      \(options.joined())
      examples:
        keys @departures 'Malm\u{F6} C:'* --expiring 1h
        evict @articles --older 7d --larger 10kB --dry-run

      """
  }

  private static let timeText = """
    A duration is a number and a unit: 250ms 90s 15m 1h30m 1.5h 7d 1w. m is minutes; months and
    years have no sure length, so say 30d or 365d. 0 is now.

    A time is a duration from now, or
      now  never  noon
      midnight           the next 00:00; tomorrow is the same
      monday ... sunday  the next one, at 00:00
      06:30              the next time it is
      2026-11-21         at 00:00
      2026-11-21T06:30   and Z or +01:00 for the zone, else the local one

    With --older, --newer and --idle a duration counts back, and the others are the last that was.

    """

  private static let sizeText = """
    A size is bytes: 512, 10kB, 1.5MB, 2GB in powers of 1000, 10KiB, 10MiB, 2GiB in powers of 1024.
    The case does not matter. Sizes are shown in powers of 1000.

    """

  private static let quotingText = #"""
    Quotes mean exactly this: what is quoted is never an option, a namespace, a keyword or a
    pattern. What is printed in quotes can be typed back.

      'single'   everything as it is
      "double"   and without quotes: \n \t \r \e \0 \\ \" \' \xHH \u{H}, and a backslash before a
                 space or punctuation gives that character
      hex:00ff   bytes, also b64:AP8=

    Parts that touch are one word: 'Kiruna:'* is a pattern that begins with Kiruna: and then
    anything.

    """#

  private static let globText = """
    A pattern is a word with one of these outside quotes:

      *        any run, also / and :
      ?        one character
      [a-z]    one of them, [!a-z] none of them
      {a,b}    one or the other

    A fixed beginning is found fast: keys 'Kiruna:'* reads nothing else.

    """

  private static var outputText: String {
    let width = OutputMode.allCases.map(\.rawValue.count).max() ?? 0
    let modes = OutputMode.allCases.map {
      "  \(Help.pad($0.rawValue, to: width))  \($0.summary)\n"
    }
    return """
      output MODE sets the form, and so does -o when the shell is started.

      \(modes.joined())
      In JSON a field of bytes that are not UTF-8 is named ..._base64 and holds base64.

      """
  }

  private static let scriptText = """
    larder STORE -f FILE runs a file, -e COMMAND one command; several run in order. The first error
    ends it, unless --keep-going. A line that begins with # is a comment.

    exit codes:
      0    done
      1    no such key or namespace, diff found a change, verify a fault
      2    a command is wrong
      3    the store cannot be opened
      4    the store failed: full, input or output, damaged
      5    refused: read-only, needs --yes, over a limit, exists
      130  interrupted

    """

  private static let keyText = """
    On the keyboard, at the prompt:

    Tab        completes commands, @namespaces, keys and options
    Up         the last lines that begin like this one; ^R searches them
    Alt-Return a new line within the command
    ^C         gives the line up, or stops the command
    ^L         clears the screen
    ^D         leaves

    """
}
