import Foundation
import Testing

@testable import TraceBench

struct TraceTests {
  private func withTrace(_ text: String, compressed: Bool = false, _ body: (URL) throws -> Void)
    throws
  {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
      "trace-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let file = directory.appendingPathComponent("some")
    try Data(text.utf8).write(to: file)
    if compressed {
      let gzip = Process()
      gzip.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      gzip.arguments = ["gzip", file.path]
      try gzip.run()
      gzip.waitUntilExit()
    }
    try body(compressed ? file.appendingPathExtension("gz") : file)
    try FileManager.default.removeItem(at: directory)
  }

  @Test(arguments: [false, true])
  func `keys are numbered in the order they come, and know when they return`(compressed: Bool)
    throws
  {
    try withTrace("b 10\na 20\nb 10\nc 1\na 20", compressed: compressed) { file in
      let trace = try Trace(contentsOf: file)
      #expect(trace.name == "some")
      #expect(trace.keys == 3)
      #expect(trace.requests == [0, 1, 0, 2, 1])
      #expect(trace.sizes == [10, 20, 10, 1, 20])
      let never = Int32(Request.never)
      #expect(trace.nextRequests == [2, 4, never, never, never])
    }
  }

  @Test func `a line may be cut anywhere by a chunk's end`() throws {
    let bytes = Array("first 1\nsecond 22\r\nfirst 1\n\nthird 333".utf8.filter { $0 != 13 })
    for cut in 1..<bytes.count {
      var lines = LineParser()
      try lines.parse(Array(bytes[..<cut]))
      try lines.parse(Array(bytes[cut...]))
      try lines.finish()
      #expect(lines.requests == [0, 1, 0, 2])
      #expect(lines.sizes == [1, 22, 1, 333])
    }
  }

  @Test func `a trace that is damaged is an error`() throws {
    try withTrace("a 1\nb\n") { file in
      #expect(throws: TraceError.self) { try Trace(contentsOf: file) }
    }
    try withTrace("a many\n") { file in
      #expect(throws: TraceError.self) { try Trace(contentsOf: file) }
    }
    try withTrace("a\nb\n", compressed: true) { file in
      try Data(contentsOf: file).dropLast(6).write(to: file)
      #expect(throws: TraceError.self) { try Trace(contentsOf: file) }
    }
  }

  @Test func `hits are counted in requests and in bytes`() {
    let trace = Trace(name: "sized", requests: [0, 1, 0, 1], sizes: [10, 30, 10, 30])
    let tally = LRU.replay(trace, capacity: 2)
    #expect(tally == Tally(requests: 4, hits: 2, bytes: 80, hitBytes: 40))
    #expect(tally.hitRatio == 50 && tally.byteHitRatio == 50)
    #expect(LRU.replay(Trace(letters: "AA"), capacity: 1).byteHitRatio == nil)
  }

  @Test func `a half of a trace is a trace with dense keys of its own`() {
    let half = Trace(letters: "ABCDCD").slice(2..<6, named: "half")
    #expect(half.keys == 2 && half.requests == [0, 1, 0, 1])
  }

  @Test func `a study has a cell for each trace, capacity and policy that is large enough`()
    async throws
  {
    var study = Study()
    study.percents = [1, 50]
    study.leastCapacity = 2
    let traces = [Trace(letters: "ABCDABCD"), Trace(letters: "AA")]
    let cells = try await study.cells(of: traces, jobs: 3)
    #expect(cells.count == Study.policies.count)
    #expect(cells.allSatisfy { $0.capacity == 2 && $0.tally.requests == 8 })

    let names = study.policies.map { $0.name }
    let report = Report(cells, policies: names, traces: traces.map(\.name))
    let opt = try #require(report.summaries.first { $0.policy == OPT.name })
    #expect(opt.cells == 1 && opt.hitRatio == 25)
    #expect(report.text.contains("AA: every capacity is too small"))
  }
}
