import ArgumentParser
import Articles
import ExampleProgram
import Service

@main
struct LarderArticles: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "larder-articles",
    abstract:
      "Keeps unread articles of a readeck server in a store, to read them without a network.",
    discussion: """
      Exit codes: 0 done, 1 no such article, 2 usage, 3 the store cannot be opened, 4 the server or the store failed, \
      5 refused, 130 interrupted.
      """,
    subcommands: [
      Sync.self, ListArticles.self, ShowArticle.self, Settings.self, Status.self, SignOut.self,
    ])

  static func main() async {
    await Failure.run(Self.self) { error in
      switch error {
      case let error as ArticlesError:
        switch error {
        case .off:
          Failure(.refused, "\(error)", hint: "larder-articles settings --on switches it on")
        case .nothingStored:
          Failure(.failed, "\(error)", hint: "run larder-articles sync when there is a network")
        case .signedOut:
          Failure(.refused, "\(error)", hint: "run it again to keep articles for the next user")
        case .noArticle:
          Failure(.noSuchKey, "\(error)", hint: "larder-articles list shows what there is")
        }
      case ServiceError.refused(status: 401, _):
        Failure(.failed, "\(error)", hint: "give the token of a user: --token or READECK_TOKEN")
      case let error as ServiceError where error.isOffline:
        Failure(.failed, "\(error)", hint: "larder-articles list shows what can be read meanwhile")
      default: Failure(error)
      }
    }
  }
}
