import Larder
import ShellLanguage

extension Command {
  static let report = Command(
    "report", .store, .reads, "Writes a page that shows the store, to be read in a browser.",
    namespaces: .oneOrAll, parameters: [.one("FILE", .file)],
    options: [.flag("--force", "replace a file that is there")],
    examples: [
      Example("report store.html", "the whole store"),
      Example("report articles.html @articles --force", "a namespace"),
    ],
    run: writeReport)

  private static func writeReport(_ call: Invocation, in session: Session) throws -> Outcome {
    let name = call.bytes("FILE")!
    let file = try LocalFile(name, of: session)
    let only = call.meansStore ? nil : try session.namespace(call.namespaces).name
    // That the file may not be written shows before everything is looked at.
    let writer = try file.writer(replaces: call.has("--force"))
    let page: [UInt8]
    do {
      page = Array(try HTMLReport(of: session, only: only).page().utf8)
    } catch is Interruption {
      throw ShellError(.interrupted, "interrupted: no file was made", hint: nil)
    }
    try writer.write(page)
    try writer.finish()
    try session.acknowledge(
      Reply(
        .object(
          [Column("file", in: .data), Column("bytes", in: .data)],
          [.text(file.path), .size(page.count)]),
        sentences: ["wrote \(Wording.size(page.count)) to \(name)"]))
    return .done
  }
}
