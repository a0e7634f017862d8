import ArgumentParser
import Departures
import ExampleProgram
// Lines have to leave the program as they come, also into a pipe.
import Foundation
import Larder

struct ShowWidget: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "widget",
    abstract: "What departs next, as the app left it: asks no service.",
    discussion: "With --watch it goes on, and shows what changes as it is written.")

  @Argument(help: "Numbers of stations; without them those of the widget's settings.")
  var stations: [String] = []

  @Option(help: "How many departures of each; without it as the settings say.")
  var rows: Int?

  @Flag(help: "Wait for changes, by whatever process, and show each.")
  var watch = false

  @Option(help: "With --watch: end after so many.")
  var changes = Int.max

  @Flag(help: "Print a line of JSON each time, with when it was read in milliseconds since 1970.")
  var json = false

  @OptionGroup var session: Session

  private struct Shown: Encodable {
    var departures: [NextDeparture]
    var read: Int64
  }

  func run() async throws {
    let store = try session.opened()
    let widget = Widget(store)
    // The watch begins before the first look, so that nothing falls between the two.
    let watched = watch ? widget.changes() : nil
    if stations.isEmpty, try widget.settings.stations.isEmpty {
      Console.complain("no station is named, and none is saved")
    }
    try show(widget)
    if let watched {
      var left = changes
      var seen: UInt64?
      for await change in watched where left > 0 {
        if case .ended(let error) = change.kind { throw error }
        // All that a commit changed is there at once: one look is enough.
        if let seen, change.transaction == seen { continue }
        seen = change.transaction
        try show(widget)
        left -= 1
        if left == 0 { break }
      }
    } else if !json {
      session.close(.next, .settings)
    }
    try store.close()
  }

  private func show(_ widget: Widget) throws {
    let stations = try stations.isEmpty ? widget.settings.stations : stations
    let next = try stations.flatMap { try widget.departures(from: $0, limit: rows) }
    var text = ""
    if json {
      text =
        try JSONOutput.text(Shown(departures: next, read: SystemClock().now.milliseconds)) + "\n"
    } else {
      for departure in next {
        let ship = departure.ship.map { "  (\($0))" } ?? ""
        text += "\(try SwissTime.clock(departure.leaves))  \(departure.line.padded(to: 6))"
        text += "\(departure.destination)\(ship)  from \(departure.station)\n"
      }
      if next.isEmpty { text = "nothing leaves\n" }
    }
    FileHandle.standardOutput.write(Data(text.utf8))
  }
}
