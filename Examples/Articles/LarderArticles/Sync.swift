import ArgumentParser
import Articles
import ExampleProgram

struct Sync: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Fetches what is missing or edited, and says how it went.",
    discussion: "Whatever ends it, the next one goes on where it was.")

  @OptionGroup var account: Account

  @Flag(help: "Only if the last sync is more than four hours ago.")
  var ifDue = false

  @Flag(help: "Print the result as JSON.")
  var json = false

  private struct Report: Encodable {
    var outcome: SyncResult.Outcome
    var result: SyncResult
    var usage: ArticleUsage
  }

  func run() async throws {
    let report: Report? = try await account.open { reader in
      guard let run = ifDue ? try reader.syncIfDue() : try reader.sync() else { return nil }
      let line = ProgressLine.ifWatched
      for await step in run {
        line?.advance("articles", done: step.done, of: step.total)
      }
      line?.clear()
      let result = await run.result()
      return Report(outcome: result.outcome, result: result, usage: try reader.usage())
    }
    guard let report else {
      print(json ? "null" : "the last sync is less than four hours ago")
      return
    }
    if report.outcome == .failed {
      throw Failure(
        .failed, report.result.reason ?? "nothing came",
        hint: "run it again: what is there already stays; --server names your server")
    }
    print(json ? try JSONOutput.text(report) : text(report))
  }

  private func text(_ report: Report) -> String {
    let result = report.result
    var lines = [
      result.text,
      "\(result.stored) fetched, \(result.skipped) there already, \(result.failed) failed, "
        + "\(result.images) images fetched",
      report.usage.text,
    ]
    if let reason = result.reason { lines.append("why: \(reason)") }
    lines.append(
      account.closing("keys @articles --limit 5", "keys @articles.images --limit 5", "namespaces"))
    return lines.joined(separator: "\n")
  }
}
