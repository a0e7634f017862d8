import ArgumentParser
import LegoCache

struct CheckDump: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract:
      "Reads a folder of Rebrickable's CSV downloads from end to end and says what it holds.")

  @Argument(help: "The folder with colors.csv.gz and the others.")
  var folder: String

  func run() throws {
    let dump = RebrickableDump(directory: folder)
    let tables = Set(dump.tables)
    guard !tables.isEmpty else { throw ValidationError("no table of a dump in \(folder)") }
    try report("colors", tables.contains(.colors)) { try dump.colors { _ in } }
    try report("themes", tables.contains(.themes)) { try dump.themes { _ in } }
    try report("categories", tables.contains(.categories)) { try dump.categories { _ in } }
    try report("parts", tables.contains(.parts)) { try dump.parts { _ in } }
    try report("sets", tables.contains(.sets)) { try dump.sets { _ in } }
    try report("minifigs", tables.contains(.minifigs)) { try dump.minifigs { _ in } }
    let linked = tables.isSuperset(of: [.elements, .parts, .colors])
    try report("elements", linked) { try dump.elements { _ in } }
    try report("partcolors", linked) { try dump.partColors { _ in } }
  }

  private func report(_ word: String, _ isThere: Bool, _ read: () throws -> Int) throws {
    guard isThere else { return }
    var count = 0
    let took = try ContinuousClock().measure { count = try read() }
    print("\(word)\t\(count)\t\(Int(took / .milliseconds(1))) ms")
  }
}
