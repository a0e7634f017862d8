import ArgumentParser
import Catalog
import ExampleProgram

struct ShowFunnel: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Prints what the catalog says of a funnel, as JSON.")

  @Argument(help: "The slug, as `list` prints it.")
  var slug: String

  @OptionGroup var place: Place

  @Flag(help: "Print its questions instead.")
  var definition = false

  func run() async throws {
    let body = try await place.open { catalog in
      let body =
        definition ? try await catalog.definition(of: slug) : try await catalog.funnel(slug)
      try catalog.saveMetrics()
      return body
    }
    print(String(decoding: body, as: UTF8.self))
    if Console.isWatched { Console.complain(place.closing("keys @catalog.http")) }
  }
}

struct Refresh: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Forgets what is kept of a funnel, so that the server is asked for it again.")

  @Argument(help: "The slug, as `list` prints it.")
  var slug: String

  @OptionGroup var place: Place

  func run() async throws {
    try await place.open { try await $0.refresh(slug) }
    print(place.closing("keys @catalog.http"))
  }
}
