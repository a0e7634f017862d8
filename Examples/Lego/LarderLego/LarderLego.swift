import ArgumentParser
import ExampleProgram
import LegoCache
import Service

@main
struct LarderLego: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "larder-lego",
    abstract: "Keeps what Rebrickable tells of Lego colours, parts and sets in a store.",
    discussion: """
      Exit codes: 0 done, 1 no such key, 2 usage, 3 the store cannot be opened, 4 the store, the folder or the service \
      failed, 5 refused, 130 interrupted.
      """,
    subcommands: [
      FetchEntity.self, RefreshLists.self, ImportFolder.self, ShowEntity.self, CheckDump.self,
      MeasureLookups.self,
    ])

  static func main() async {
    await Failure.run(Self.self) { error in
      switch error {
      case let error as DumpError:
        Failure(
          .failed, "\(error)",
          hint:
            "what was loaded before that stays, nothing was removed; repair the folder and run it again"
        )
      case let error as ServiceError where error.isOffline:
        Failure(.failed, "\(error)", hint: "--offline takes the answers of a small recording")
      default: Failure(error)
      }
    }
  }
}
