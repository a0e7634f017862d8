import ArgumentParser
import Catalog
import ExampleProgram
import Service

@main
struct LarderCatalog: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "larder-catalog",
    abstract: "Reads a catalog of questionnaires page by page, and keeps its pages in a store.",
    discussion: """
      How long an answer is kept, the server says. Exit codes: 0 done, 1 no such funnel, 2 usage, 3 the store cannot be \
      opened, 4 the server or the store failed, 5 refused, 130 interrupted.
      """,
    subcommands: [
      ListFunnels.self, ShowFunnel.self, Status.self, Refresh.self, SignOut.self,
    ])

  static func main() async {
    await Failure.run(Self.self) { error in
      switch error {
      case CatalogError.signedOut:
        Failure(
          .refused, "\(error)",
          hint: "nothing is kept of the user any more; give a token: --token or CATALOG_TOKEN")
      case let error as CatalogError: Failure(.failed, "\(error)", hint: "try it again later")
      case ServiceError.refused(status: 404, _):
        Failure(.noSuchKey, "\(error)", hint: "larder-catalog list shows what there is")
      case let error as ServiceError where error.isOffline:
        Failure(
          .failed, "\(error)",
          hint: "name the server's API, --server, or let the recording answer: --offline")
      default: Failure(error)
      }
    }
  }
}
