import ArgumentParser
import Catalog
import ExampleProgram

struct Status: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Says what the cache was worth so far, to all processes of the user.")

  @OptionGroup var account: Account

  @Flag(help: "Print it as JSON.")
  var json = false

  private struct Report: Encodable {
    var metrics: CatalogMetrics
    var hitRate: Double?
    var savedShare: Double?
  }

  func run() async throws {
    let metrics = try await account.open { try $0.saveMetrics() }
    if json {
      print(
        try JSONOutput.text(
          Report(metrics: metrics, hitRate: metrics.hitRate, savedShare: metrics.savedShare)))
      return
    }
    print(
      "\(metrics.reads) reads: \(metrics.hits) hits, \(metrics.confirmed) confirmed, "
        + "\(metrics.misses) misses")
    print("hit rate   ", percent(metrics.hitRate), separator: "  ")
    print("bytes saved", percent(metrics.savedShare), separator: "  ")
    print(account.place.closing("keys @catalog.metrics", "namespaces"))
  }

  private func percent(_ share: Double?) -> String {
    share.map { "\(Int($0 * 1_000) / 10).\(Int($0 * 1_000) % 10) %" } ?? "not known yet"
  }
}
