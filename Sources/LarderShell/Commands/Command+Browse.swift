import Larder
import ShellLanguage

extension Command {
  static let browse = Command(
    "browse", .looking, .reads, "Shows namespaces, keys and values on the whole screen, live.",
    namespaces: .oneOrAll,
    examples: [
      Example("browse", "the namespace in use, or all"),
      Example("browse @articles", "a namespace; ? lists the keys, q leaves"),
    ],
    run: browseStore)

  private static func browseStore(_ call: Invocation, in session: Session) throws -> Outcome {
    guard [.prompt, .command].contains(call.line.source), session.presentation.isTerminal,
      let open = session.host.openScreen
    else {
      throw ShellError(
        .promptOnly, "browse works at a terminal only, and not with TERM=dumb",
        hint: "`keys @*` lists entries")
    }
    let isWhole = call.namespaces == .all || call.namespaces == .unnamed && session.current == nil
    let names = isWhole ? [] : try session.namespaces(call.namespaces).map(\.name)
    let screen = try open()
    let result = Result { try BrowseLoop(names.first, in: session, on: screen).run() }
    try screen.close()
    try result.get()
    return .done
  }
}
