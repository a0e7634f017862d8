import ArgumentParser
import Foundation

/// The second process of a measurement. This process opens an existing store, and reads when the first process sends a command.
struct ReaderCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "reader", shouldDisplay: false)

  @Option var peer: String
  @Option var directory: String
  @Option var level: String
  @Option var entries: Int
  @Option var valueSize: Int
  @Flag(help: "Say how much memory a hundred thousand reads take, and end.") var weighs = false

  /// Starts this program again, as a process that reads the store of the contender.
  static func start(_ contender: Contender, weighs: Bool = false) throws -> ChildProcess {
    let site = contender.site
    let helper = try ChildProcess(
      Bundle.main.executablePath ?? CommandLine.arguments[0],
      [
        "reader", "--peer", contender.kind.id, "--directory", site.directory,
        "--level", site.level.rawValue, "--entries", String(site.data.count),
        "--value-size", String(site.data.valueSize),
      ] + (weighs ? ["--weighs"] : []))
    guard try helper.receive() == "ready" else { throw Failure("a helper did not start") }
    return helper
  }

  func run() throws {
    guard let kind = PeerKind.named(peer), let level = Level(rawValue: level) else {
      throw ValidationError("no such peer or level")
    }
    // `missing` also loads the library that some peers need, so the call comes before the peer is opened.
    if let reason = kind.missing() { throw Failure(reason) }
    let data = Dataset(count: entries, valueSize: valueSize)
    let order = Orders.random(data, distinct: data.count)
    var site = Site(directory: directory, level: level, data: data)
    site.isAttached = !weighs
    let before = ProcessFigures.memory(of: getpid())
    let contender = try Contender(kind, site: site)
    if weighs, level == .memory { try contender.fill(0..<UInt32(data.count)) }
    say("ready")
    if weighs {
      try read(contender, order[..<100_000])
      let after = withExtendedLifetime(order) { ProcessFigures.memory(of: getpid()) }
      say(
        "\((after?.own ?? 0) - (before?.own ?? 0)) \((after?.mapped ?? 0) - (before?.mapped ?? 0))")
    } else {
      try answer(contender, order)
    }
    try contender.close()
  }

  private func answer(_ contender: Contender, _ order: [UInt32]) throws {
    while let line = readLine() {
      let numbers = line.split(separator: " ").compactMap { Int($0) }
      let piece = Orders.piece(of: order, round: numbers[0], count: numbers[1])
      say(String(try nanoseconds { try read(contender, piece) }))
    }
  }

  private func read(_ contender: Contender, _ order: Order) throws {
    guard try contender.session.read(order) == contender.site.data.expected(order) else {
      throw Failure("read other bytes")
    }
  }
}
