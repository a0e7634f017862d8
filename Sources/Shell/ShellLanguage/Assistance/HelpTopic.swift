package struct HelpTopic: Sendable {
  /// The words by which `help` finds the topic. The first word is the name of the topic.
  package let names: [String]
  package let text: String

  package var name: String { names[0] }

  package static let all: [HelpTopic] = texts.map { names, text in
    let ended = text.hasSuffix("\n") ? text : text + "\n"
    return HelpTopic(names: names.split(separator: " ").map(String.init), text: ended)
  }

  package static func named(_ name: String) -> HelpTopic? { all.first { $0.names.contains(name) } }

  private static let texts: KeyValuePairs<String, String> = [
    "selections selection filters": """
    A selection names the entries of a command. Every command takes the same words: preview with
    keys, press Up, change the verb.

      [@NS ...] [KEY or PATTERN ...] [filters]

    Without a namespace it is the one of use, the only one of the store, or with --stdin --json the
    one of each record; @* is all of them. An entry must match one of the keys or patterns, and
    all filters.

    \(DisplayWidth.list(Selection.options.map { ($0.usage, $0.summary) }))
    examples:
      keys @departures 'Malm\u{F6} C:'* --expiring 1h
      evict @articles --older 7d --larger 10kB --dry-run
    """,
    "expressions where paths show": #"""
    --where EXPR selects entries, --show EXPR,... shows columns, --sort, --by, sum, min, max and avg
    take one operand. EXPR is one word, so quote it:

      keys @sets --where '.year >= 1999 and .name ~ "(?i)castle"' --show .name,.year --sort .year

      .a.b[0]  ."odd name"  .items[].price  .     paths of a JSON value; [] is each element
      header.NAME  metadata.a                     an HTTP response, other metadata
      key namespace codec etag state tags pinned negative value
      size stored version status                  numbers
      written used expires last_modified now      times: written > "monday"
      ttl age idle                                durations: ttl < 1h
      length(.a) lower(.a) number(.a) string(.a) type(.a)

      = == != < <= > >=    ~ !~ (regular expression)    in (1, 2)    not in    is null    exists .a
      and  or  not  ( )    :name (--arg, --argjson)

    A missing field reads as null. Values of different types are never equal. With [], a test holds
    if it holds for any element; --show lists the elements, --sort takes the smallest, with --reverse
    the largest, and the others take each. No element reads as null.
    """#,
    "times durations": """
    A duration is a number and a unit: 250ms 90s 15m 1h30m 1.5h 7d 1w, in quotes also '1h 30m'. m is
    minutes; months and years vary in length, so use 30d or 365d. 0 is now.

    A time is a duration from now, or
      now  never  noon
      midnight           the next 00:00; tomorrow is the same
      monday ... sunday  the next one, at 00:00
      06:30              the next 06:30
      tomorrow 09:00     also monday 04:00 and today noon, in quotes or as the last words
      2026-11-21         at 00:00
      2026-11-21T06:30   with Z or +01:00 for the zone, else the local one

    With --older, --newer and --idle a duration counts back, and the other forms are the last one.
    In expire, +2h is two hours later than the present expiry of each entry.
    """,
    "sizes": """
    A size is bytes: 512, 10kB, 1.5MB, 2GB in powers of 1000, 10KiB, 10MiB, 2GiB in powers of 1024.
    Case does not matter. Sizes are shown in powers of 1000. A count takes k and M: 5k is 5000.
    """,
    "quoting quotes words": #"""
    Quoted text means exactly itself: it is never an option, a namespace, a keyword or a pattern.
    Keys that are printed in quotes can be typed back.

      'single'   everything literally
      "double"   and bare words: \n \t \r \e \0 \\ \" \' \xHH \u{H}, and a backslash before a
                 space or punctuation gives that character
      hex:00ff   bytes, also b64:AP8=
      int:10     the key of an integer; uuid:... that of a UUID
      {"a": 1}   JSON, taken byte for byte; also ["a"]
      :name      the value of --arg name=VALUE, as one quoted word
      --         all words after it are exact data

    Parts that touch are one word: 'Kiruna:'* is a pattern of all keys that begin with Kiruna:
    """#,
    "globs patterns glob regex": #"""
    A pattern is a word with one of these outside quotes:

      *        any characters, also / and :
      ?        one character
      [a-z]    one of them, [!a-z] none of them
      {a,b}    one or the other

    A fixed prefix limits the scan: keys 'Kiruna:'* reads nothing else. -i ignores case.

    --regex, search --regex and ~ take a regular expression, found anywhere in the text:

      .  \d  \w  \s  [a-z]  [^a-z]     any character, a digit, of a word, space, listed, not listed
      ^  $  \b                        the start, the end, the edge of a word
      *  +  ?  {2,5}                  repeat what stands before; *? and others take less
      a|b  (ab)  (?i)                 one or the other, a group, ignore case from here

    It takes time in proportion to the text. So \1, (?=a) and (?<=a) are not supported.
    """#,
    "changes bulk confirmation": """
    A change is a bulk change if its words do not list the keys: a pattern, a filter, a namespace
    without keys, a tag, several keys from --stdin. So is one that ends or replaces entries: expire
    K now, a limit below the use, clear, import --on-conflict replace. Bulk changes need confirmation.

      --dry-run   shows what would change, and changes nothing
      --yes, -y   confirms this change; larder -y confirms all

    At a terminal a person is asked; elsewhere the change is refused with exit code 5. purge removes
    expired entries only and needs no confirmation.
    """,
    "output modes formats": """
    output MODE sets the form, and so does larder -o MODE. -o MODE behind a command is for that
    command alone.

    \(DisplayWidth.list(OutputMode.allCases.map { ($0.rawValue, $0.summary) }))
    In JSON a field of bytes that are not UTF-8 is named ..._base64 and holds base64.
    """,
    "pipes redirection sequences": """
    keys @a; count @a       one command after the other; an error ends the sequence
    keys @a > keys.txt      output to a file, >> appends; get K > f writes the exact bytes
    keys @a | less          output to a program, at the prompt only
    ! ls                    runs a program, at the prompt only

    Output into a file or a program has the form of a pipe: plain, all rows, no color. Quote a word
    that contains ; | > < or &.
    """,
    "scripts exit arguments": """
    larder STORE COMMAND WORD... runs one command whose words are not parsed again: after -- they are
    exact data. -e COMMAND and -f FILE run commands in order; --arg k=VALUE defines :k in them. The
    first error ends the script, unless --keep-going. A line that begins with # is a comment.

    exit codes:
    \(DisplayWidth.list(ExitCode.all.map { ("\($0.code)", $0.meaning) }))
    """,
    "keys keyboard": """
    Keys at the prompt:

    Tab         completes commands, @namespaces, keys, options, files and fields of values;
                a second Tab lists more
    Up          recalls lines that begin like this one; ^R searches them
    Alt-Return  a new line within the command
    ^C          drops the line, or stops the command
    ^L          clears the screen
    ^D          leaves
    """,
    "color colour colors": """
    While a line is typed, commands are bold, options blue, namespaces cyan, quoted text green,
    patterns yellow, numbers magenta, and unknown words red. In JSON, fields are blue, strings green,
    numbers magenta, true, false and null yellow.

    Colors appear at a terminal and never carry meaning alone. option color off, larder --no-color, a
    NO_COLOR that is not empty, and TERM=dumb turn them off.
    """,
  ]
}
