import ArgumentParser
import Articles
import ExampleProgram

struct Settings: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows what is kept, or changes it; what there is no room for any more goes at once.")

  @OptionGroup var account: Account

  @Flag(inversion: .prefixedNo, exclusivity: .exclusive, help: "Keep articles at all.")
  var on: Bool?

  @Option(help: "How many articles: 0, 10, 20, ... 100.")
  var articles: Int?

  @Flag(inversion: .prefixedNo, exclusivity: .exclusive, help: "Keep their images too.")
  var images: Bool?

  @Option(help: "How many megabytes of images: 50 to 1200.")
  var imageMegabytes: Int?

  @Flag(help: "Print the settings as JSON.")
  var json = false

  func validate() throws {
    if let articles, !OfflineSettings.articleChoices.contains(articles) {
      throw ValidationError("\(articles) articles cannot be chosen: say 0, 10, 20, ... 100")
    }
    if let imageMegabytes, !OfflineSettings.imageRange.contains(imageMegabytes) {
      throw ValidationError("\(imageMegabytes) megabytes cannot be chosen: say 50 to 1200")
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
    if json {
      print(try JSONOutput.text(settings))
      return
    }
    print("offline reading", settings.isOn ? "on" : "off", separator: "  ")
    print("articles       ", settings.articles, separator: "  ")
    print("images         ", settings.keepsImages ? "kept" : "not kept", separator: "  ")
    print("at most        ", "\(settings.imageMegabytes) MB of images", separator: "  ")
    print(account.closing("get @articles.settings offline", "namespaces"))
  }
}
