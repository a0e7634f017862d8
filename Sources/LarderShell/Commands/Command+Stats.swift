import Larder
import ShellLanguage

import struct LarderShared.SharedStatus

extension Command {
  static let stats = Command(
    "stats", .store, .reads, "Shows space, durability, hits, evictions and readers.",
    namespaces: .oneOrAll,
    options: [.value("--every", .duration, "repeat at this interval")],
    plain: ["": "namespace fact value"],
    examples: [
      Example("stats", "the store"),
      Example("stats @departures --every 2s", "a namespace as it changes"),
    ],
    run: showStatistics)

  private static func showStatistics(_ call: Invocation, in session: Session) throws -> Outcome {
    let only = call.meansStore ? nil : try session.namespace(call.namespaces).name
    let interval = call.duration("--every")
    guard interval == nil || session.presentation.mode != .json else {
      throw ShellError(
        .usage, "--every has no end, and json is one document", hint: "use `-o jsonl`")
    }
    var isFirst = true
    while true {
      // A person sees where the next look begins.
      if !isFirst, session.isForPerson {
        try session.write(
          session.presentation.lines(["", "\(session.wallClock.timeOfDay(session.now))"]))
      }
      isFirst = false
      let report = StatisticsReport(
        try session.store.statistics(), try session.store.limits().effective, only: only,
        shared: try SharedStatus(of: session.store)?.words,
        http: try HTTPCounts.read(from: session.store))
      for reply in report.replies(for: session.presentation) { try session.answer(reply) }
      guard let interval else { return .done }
      guard try session.host.pause(interval) else {
        return .told(ShellError.Code.interrupted.exitCode)
      }
    }
  }
}
