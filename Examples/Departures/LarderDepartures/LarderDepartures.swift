import ArgumentParser
import Departures
import ExampleProgram
import Service

@main
struct LarderDepartures: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "larder-departures",
    abstract: "Boards, weather, lakes and ships of Swiss boats, kept in a store.",
    discussion: """
      Exit codes: 0 done, 1 no such thing, 2 usage, 3 the store cannot be opened, 4 the store or a service failed, \
      5 refused, 130 interrupted.
      """,
    subcommands: [
      ShowBoard.self, ShowLake.self, FindStations.self, FindWay.self, LoadFavourites.self,
      Publish.self, ShowWidget.self, ShowUsage.self, ClearTiles.self,
    ])

  static func main() async {
    await Failure.run(Self.self) { error in
      switch error {
      case let missing as Missing: Failure(.noSuchKey, missing.description)
      case let error as ServiceError where error.isOffline:
        Failure(
          .failed, "\(error)", hint: "nothing is stored in its place; --offline asks a recording")
      default: Failure(error)
      }
    }
  }
}
