import ExampleTesting
import Foundation
import Larder
import LegoCache
import Testing

/// What the file of a cache may grow to, whoever opens it.
@Suite struct DiskLimitTests {
  private let folder: TemporaryFolder
  private var path: String { folder.url.path + "/my store" }

  init() throws { folder = try TemporaryFolder() }

  private func limit(_ open: () throws -> LegoCache) throws -> Int? {
    let lego = try open()
    let limit = try lego.larder.limits().effective.disk
    try lego.larder.close()
    return limit
  }

  @Test func `a new cache has ten megabytes, one that is in use keeps what it has`() throws {
    #expect(try limit { try LegoCache(at: path) } == 10_000_000)
    #expect(try limit { try LegoCache(at: path, diskLimit: 20_000_000) } == 20_000_000)
    #expect(try limit { try LegoCache(at: path) } == 20_000_000)

    let other = folder.url.path + "/other"
    let store = try Store(at: other)
    try LegoCache(store).store(Theme(id: 1, name: "Technic"))
    try store.close()
    #expect(try limit { try LegoCache(at: other) } == nil)

    let free = folder.url.path + "/free"
    var options = Store.Options()
    options.limits = StoreLimits(memory: 5_000_000)
    #expect(try limit { try LegoCache(at: free, options: options) } == nil, "somebody has said")
    options.limits = nil
    let lego = try LegoCache(at: free, diskLimit: 4_000_000, options: options)
    #expect(try lego.larder.limits().declared.memory == 5_000_000, "which stays")
    try lego.larder.finish()
  }

  @Test func `ten megabytes are a limit without a client, too`() throws {
    let lego = try LegoCache(at: path, lifetimes: .default)
    let name = String(repeating: "x", count: 10_000)
    for page in 0..<20 {
      try lego.store((0..<100).map { Part(partNum: "\(page)-\($0)", name: name, categoryID: 1) })
      #expect(try fileSize() <= 10_000_000)
    }
    #expect((400..<1000).contains(try lego.count()))
    #expect(try lego.cached(Part.self, key: "19-99") != nil)
    try lego.larder.finish()
  }

  @Test func `an import takes all there is, or what a limit leaves room for, and says so`()
    async throws
  {
    let name = String(repeating: "x", count: 10_000)
    let rows = (0..<600).map { "\($0),\(name),1,Plastic\n" }.joined()
    let download = folder.url.appending(path: "download")
    try FileManager.default.createDirectory(at: download, withIntermediateDirectories: false)
    _ = try folder.write(
      "download/parts.csv", Array(("part_num,name,part_cat_id,part_material\n" + rows).utf8))
    func run(_ arguments: String...) async throws -> Outcome {
      try await Outcome(
        of: ["larder-lego", "import", download.path, "--store", path] + arguments)
    }
    let free = try await run()
    #expect(free.code == 0 && !free.output.contains("held"))
    #expect(try limit { try LegoCache(at: path) } == nil)
    let all = try LegoCache(at: path)
    #expect(try all.count() == 600)
    try all.larder.finish()
    try FileManager.default.removeItem(atPath: path)

    let limited = try await run("--limit", "4")
    #expect(limited.code == 0, "\(limited.error)")
    let line = try #require(limited.output.split(separator: "\n").first { $0.hasPrefix("parts: ") })
    #expect(line.hasSuffix(" of 600 held, for the file may grow to 4 MB; --limit says otherwise"))
    #expect(try fileSize() <= 4_000_000)
    let lego = try LegoCache(at: path)
    let held = line.dropFirst("parts: ".count).prefix { $0 != " " }.filter(\.isNumber)
    #expect(try Int(held) == lego.count())
    try lego.larder.finish()

    struct Summary: Decodable {
      struct Kind: Decodable { var held: Int }
      var kinds: [Kind]
      var limit: Int?
    }
    let again = try JSONDecoder().decode(
      Summary.self, from: Data(try await run("--json").output.utf8))
    #expect(again.limit == 4_000_000, "it has stayed")
    #expect((1..<600).contains(try #require(again.kinds.first).held))
    #expect(try fileSize() <= 4_000_000)
    #expect(try await run("--limit", "3").code == 2)
  }

  private func fileSize() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: path).reduce(0) { sum, name in
      let facts = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
      return name.hasPrefix("data") ? sum + (facts[.size] as? Int ?? 0) : sum
    }
  }
}
