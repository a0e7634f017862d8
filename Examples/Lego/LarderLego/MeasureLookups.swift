import ArgumentParser
import ExampleProgram
import Larder
import LegoCache

struct MeasureLookups: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "measure",
    abstract:
      "Looks parts up as people do, with a cache and without, and says what the cache saved.",
    discussion: """
      A few parts are asked for often and most of them seldom: the one in place n of the service's list 1/n times as often \
      as the first. The figures are those of a new store only if there is none.
      """)

  @OptionGroup var options: ServiceOptions

  @Option(help: "How many parts to choose from.")
  var among = 1000

  @Option(help: "How many lookups.")
  var lookups = 10_000

  @Option(help: "Where the choice of parts begins; the same number makes the same choice.")
  var seed: UInt64 = 1

  @Flag(help: "Print JSON.")
  var json = false

  func run() async throws {
    let (client, requests) = try options.client()
    let plain = LegoClient(
      LegoManager(try Store.temporary(), plan: .disabled), service: client.service)
    let numbers = try await numbers(from: plain)
    guard !numbers.isEmpty else { throw Failure(.failed, "the service has no parts") }
    var draw = Draw(count: numbers.count, seed: seed)
    let order = (0..<lookups).map { _ in numbers[draw.next()] }

    let before = requests.count
    let cached = try await times(of: order, client)
    let asked = requests.count - before
    let uncached = try await times(of: Array(order.prefix(1000)), plain)
    let figures = Figures(
      lookups: lookups, parts: Set(order).count, requests: asked,
      saved: 1 - Double(asked) / Double(lookups),
      memory: Figures.Times(cached[.memory]), disk: Figures.Times(cached[.disk]),
      loaded: Figures.Times(cached[.loaded]), uncached: Figures.Times(uncached[.loaded]))
    try client.manager.cache?.larder.close()
    if json {
      print(try JSONOutput.text(figures))
    } else {
      print(figures.text)
      print("\n" + Closing(store: options.store, commands: ["stats", "namespaces"]).text)
    }
  }

  private func numbers(from client: LegoClient) async throws -> [String] {
    var numbers: [String] = []
    let list = LegoList.parts.sized(1000)
    var page: CacheResult<Listing<Part>>? = try await client.page(list)
    while let some = page?.value, numbers.count < among {
      numbers += some.results.map(\.partNum)
      page = try await client.page(after: some, of: list)
    }
    return Array(numbers.prefix(among))
  }

  /// How long each lookup took, in microseconds, by where the answer came from.
  private func times(
    of order: [String], _ client: LegoClient
  ) async throws -> [CacheResult<Part>.Source: [Double]] {
    let line = ProgressLine.ifWatched
    defer { line?.clear() }
    var times: [CacheResult<Part>.Source: [Double]] = [:]
    for (place, number) in order.enumerated() {
      let start = ContinuousClock.now
      guard let part = try await client.part(number) else { continue }
      times[part.source, default: []].append((ContinuousClock.now - start) / .microseconds(1))
      line?.advance("lookups", done: place + 1, of: order.count)
    }
    return times
  }
}

/// Places by Zipf's law, the same for the same seed.
private struct Draw {
  private let sums: [Double]
  private var state: UInt64

  init(count: Int, seed: UInt64) {
    var sum = 0.0
    sums = (1...count).map { place in
      sum += 1 / Double(place)
      return sum
    }
    state = seed
  }

  mutating func next() -> Int {
    // SplitMix64.
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
    let share = Double((bits ^ bits >> 31) >> 11) / Double(1 << 53)
    let wanted = share * (sums.last ?? 0)
    var (low, high) = (0, sums.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if sums[middle] < wanted { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

private struct Figures: Encodable {
  /// In microseconds.
  struct Times: Encodable {
    var count: Int
    var median: Double
    var highest: Double

    init?(_ times: [Double]?) {
      guard let times = times?.sorted(), let highest = times.last else { return nil }
      count = times.count
      median = times[times.count / 2]
      self.highest = highest
    }

    var text: String {
      "\(count.grouped) of median \(rounded(median)) us, highest \(rounded(highest)) us"
    }
    private func rounded(_ time: Double) -> Double { (time * 10).rounded() / 10 }
  }

  var lookups: Int
  var parts: Int
  var requests: Int
  var saved: Double
  var memory: Times?
  var disk: Times?
  var loaded: Times?
  var uncached: Times?

  var text: String {
    let percent = Double(Int(saved * 1000)) / 10
    let rows = [
      ("from memory", memory), ("from disk", disk), ("from the service", loaded),
      ("without a cache", uncached),
    ]
    return
      ([
        "\(lookups.grouped) lookups of \(parts.grouped) parts: \(requests.grouped) requests, \(percent) % saved"
      ]
      + rows.compactMap { row in row.1.map { row.0.padded(to: 18) + $0.text } })
      .joined(separator: "\n")
  }
}
