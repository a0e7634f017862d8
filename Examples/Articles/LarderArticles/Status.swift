import ArgumentParser
import Articles
import ExampleProgram
import Larder

struct Status: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Says how much is kept, and when it was last brought up to date.")

  @OptionGroup var account: Account

  @Flag(help: "Print it as JSON.")
  var json = false

  func run() async throws {
    let usage = try await account.open { try $0.usage() }
    if json {
      print(try JSONOutput.text(usage))
      return
    }
    print(usage.text)
    print(usage.lastSync.map { "last sync \($0)" } ?? "never synced")
    print(account.closing("namespaces", "count @*"))
  }
}

struct SignOut: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sign-out",
    abstract: "Forgets everything of the user; the settings stay.")

  @OptionGroup var account: Account

  @Flag(help: "Print how much was forgotten as JSON.")
  var json = false

  func run() async throws {
    let usage = try await account.open { reader in
      let usage = try reader.usage()
      try await reader.signOut()
      return usage
    }
    if json {
      print(try JSONOutput.text(usage))
      return
    }
    print("nothing is kept any more")
    print("forgotten: \(usage.text)")
    print(account.closing("namespaces"))
  }
}
