import ExampleTesting
import Foundation
import Larder
import LegoCache
import Testing

extension ImportTests {
  @Test func `a table that is damaged midway removes nothing and can be loaded again`() throws {
    try writeFirst()
    _ = try imported()
    try write(
      .colors, "id,name,rgb,is_trans", "1,Blue,0055BF,f", "4,Red,B40000,f", "x,Broken,000000,f")
    let error = #expect(throws: DumpError.self) { try imported(batch: 2) }
    #expect(error?.file == "colors.csv" && error?.line == 4)
    #expect(try lego.cached(Color.self, key: "1") != nil, "the first batch was whole")
    #expect(try lego.cached(Color.self, key: "7") != nil)
    try writeSecond()
    #expect(
      try imported().tallies[.colors] == Tally(added: 0, unchanged: 3, removed: 1))
  }

  @Test func `a damaged table of a first import leaves no half batch`() throws {
    try write(
      .colors, "id,name,rgb,is_trans", "1,Blue,0055BF,f", "4,Red,B40000,f", "5,Rose,C870A0",
      "6,X,0,f")
    #expect(throws: DumpError.self) { try imported() }
    #expect(try lego.count() == 0)
  }

  @Test func `what others store during an import stays`() throws {
    try writeFirst()
    let late = Color(id: 99, name: "Late", rgb: "000000")
    var job = LegoImport(into: lego)
    job.batch = 1
    let lego = lego
    _ = try job.run(dump, kinds: [.colors]) { _ in try lego.store(late) }
    #expect(try lego.cached(Color.self, key: "99") == late)
    #expect(try imported().tallies[.colors] == Tally(unchanged: 3, removed: 1))
  }

  @Test func `progress rises to what was read`() throws {
    try writeFirst()
    var job = LegoImport(into: lego)
    job.batch = 2
    var seen: [[Int]] = [[], []]
    _ = try job.run(dump, kinds: [.colors, .parts]) { progress in
      seen[progress.kind == .colors ? 0 : 1].append(progress.done)
    }
    #expect(seen == [[2, 3], [2, 2]])
    #expect(try dump.estimate(.colors) == 3 && dump.estimate(.elements) == 3)
  }

  @Test func `JSON that is none says where`() throws {
    let broken = EntityFolder(directory: folder.url.path)
    _ = try folder.write("colors.json", Array("[{\"id\":1,\"name\":\"Blue\"}]".utf8))
    let error = #expect(throws: DumpError.self) { try LegoImport(into: lego).run(broken) }
    #expect(error?.kind == .malformed && error?.file == "colors.json")
    #expect(error?.message.contains("[0]") == true && error?.message.contains("rgb") == true)
    #expect(broken.kinds == [.colors])
  }

  @Test func `a store for reading only refuses an import`() throws {
    let path = folder.url.path + "/store"
    _ = try LegoCache(at: path)
    var options = Store.Options()
    options.readOnly = true
    let reader = try LegoCache(at: path, options: options)
    let error = #expect(throws: LarderError.self) { try LegoImport(into: reader).run(sample) }
    #expect(error?.code == .readOnly)
  }
}
