import ArgumentParser
import ExampleProgram
import LegoCache

@main
struct LarderLego: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "larder-lego",
    abstract: "Caches Rebrickable's data about Lego colours, parts and sets in a store.",
    discussion: """
      Exit codes: 0 done, 1 no such key, 2 usage, 3 the store cannot be opened, 4 the store, the folder or the service \
      failed, 5 refused, 130 interrupted.
      """,
    version: exampleVersion,
    subcommands: [
      FetchEntity.self, ListEntities.self, RefreshLists.self, ImportFolder.self, ShowEntity.self,
    ])

  static func main() async {
    await Failure.run(Self.self, credential: "--key or REBRICKABLE_KEY") { error in
      guard let error = error as? DumpError else { return nil }
      return Failure(
        .failed, "\(error)", hint: "repair the folder and import it again")
    }
  }
}
