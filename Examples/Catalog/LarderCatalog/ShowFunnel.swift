import ArgumentParser
import Catalog
import ExampleProgram

struct ShowFunnel: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Prints what the catalog says of a funnel, as JSON.")

  @Argument(help: "The slug, as `list` prints it.")
  var slug: String

  @OptionGroup var account: Account

  @Flag(help: "Print its questions instead.")
  var definition = false

  func run() async throws {
    let body = try await account.open { catalog in
      let body =
        definition ? try await catalog.definition(of: slug) : try await catalog.funnel(slug)
      try catalog.saveMetrics()
      return body
    }
    print(String(decoding: body, as: UTF8.self))
    if Console.isWatched { Console.complain(account.place.closing("keys @catalog.http")) }
  }
}
