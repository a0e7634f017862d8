import ArgumentParser
import Articles
import ExampleProgram
import Larder

struct Status: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Says how much is kept, and when it was last brought up to date.")

  @OptionGroup var place: Place

  @Flag(help: "Print it as JSON.")
  var json = false

  func run() async throws {
    let usage = try await place.open { try $0.usage() }
    if json {
      print(try JSONOutput.text(usage))
      return
    }
    print(usage.text)
    print(usage.lastSync.map { "last sync \($0)" } ?? "never synced")
    print(place.closing("namespaces", "count @*"))
  }
}

struct SignOut: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sign-out",
    abstract: "Forgets everything of the user; the settings stay.")

  @OptionGroup var place: Place

  @Flag(help: "Print how much is kept now as JSON.")
  var json = false

  func run() async throws {
    let usage = try await place.open { reader in
      try await reader.signOut()
      return try reader.usage()
    }
    if json {
      print(try JSONOutput.text(usage))
      return
    }
    print("nothing is kept any more")
    print(place.closing("namespaces"))
  }
}
