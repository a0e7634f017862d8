import ArgumentParser
import Articles
import ExampleProgram

struct Settings: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints or changes the settings; articles beyond a lower limit are removed at once.")

  @OptionGroup var account: Account
  @Flag(inversion: .prefixedNo, exclusivity: .exclusive, help: "Store articles.") var on: Bool?
  @Option(help: "The most articles: 0, 10, 20, ... 100.") var articles: Int?

  @Flag(
    inversion: .prefixedNo, exclusivity: .exclusive, help: "Store their images; off by default.")
  var images: Bool?

  @Option(help: "The most megabytes of images: 50 to 1200.") var imageMegabytes: Int?

  func validate() throws {
    if let articles, !OfflineSettings.articleChoices.contains(articles) {
      throw ValidationError("\(articles) articles are not possible: give 0, 10, 20, ... 100")
    }
    if let imageMegabytes, !OfflineSettings.imageRange.contains(imageMegabytes) {
      throw ValidationError("\(imageMegabytes) megabytes are not possible: give 50 to 1200")
    }
  }

  func run() async throws {
    let settings = try await account.open { reader in
      var settings = try reader.settings()
      let before = settings
      settings.isOn = on ?? settings.isOn
      settings.articles = articles ?? settings.articles
      settings.keepsImages = images ?? settings.keepsImages
      settings.imageMegabytes = imageMegabytes ?? settings.imageMegabytes
      if settings != before { try await reader.change(settings) }
      return settings
    }
    try account.show(
      settings,
      closing: ["get \(try account.namespace("articles.settings")) offline", "namespaces"],
      [
        "offline reading  \(settings.isOn ? "on" : "off")",
        "articles         \(settings.articles)",
        "images           \(settings.keepsImages ? "kept" : "not kept")",
        "at most          \(settings.imageMegabytes) MB of images",
      ])
  }
}

struct Status: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints the size of the stored data and the time of the last sync.")

  @OptionGroup var account: Account

  func run() async throws {
    let usage = try await account.open { try $0.usage() }
    let edits = usage.pendingEdits
    try account.show(
      usage, closing: ["namespaces", "count @*"],
      [usage.text, usage.lastSync.map { "last sync \($0)" } ?? "never synced"]
        + (edits > 0 ? ["\(edits.counted("change")) not sent yet"] : []))
  }
}

struct SignOut: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sign-out",
    abstract: "Removes all data of the user, unsent changes included; the settings stay.")

  @OptionGroup var account: Account

  func run() async throws {
    let usage = try await account.open { reader in
      let usage = try reader.usage()
      try await reader.signOut()
      return usage
    }
    let edits = usage.pendingEdits
    try account.show(
      usage, closing: ["namespaces"],
      ["removed: \(usage.text)"] + (edits > 0 ? ["lost: \(edits.counted("unsent change"))"] : []))
  }
}
