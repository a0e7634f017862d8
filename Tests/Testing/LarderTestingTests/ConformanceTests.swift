import Foundation
import Larder
import LarderTesting
import Synchronization
import TestSupport
import Testing

@Suite struct ConformanceTests {
  private struct Color: Codable, Sendable, Equatable {
    var name: String
    var parts: [Int?]
    var share: Double
    var data: Data?
  }

  private let colors = [
    Color(name: "", parts: [], share: 0),
    Color(name: "Gr\u{FC}n", parts: [1, nil, .min], share: 1e300, data: Data([0, 255])),
  ]

  @Test func `the codecs of the library conform, and none does without a value`() async throws {
    try await checkConformance(of: JSONCodec<Color>(isLossless: true), with: colors)
    try await checkConformance(of: TextCodec(), with: ["", "caf\u{E9}"])
    try await checkConformance(of: BytesCodec(), with: [[], [0, 255]])
    try await checkConformance(of: DataCodec(), with: [Data(), Data([0, 255])])
    await #expect(throws: ConformanceFailure.self) {
      try await checkConformance(of: TextCodec(), with: [])
    }
  }

  private struct Broken: Codec {
    enum Defect: CaseIterable { case id, loss, drift, fails }
    let defect: Defect
    var id: CodecID { CodecID(rawValue: defect == .id ? 5 : 200) }
    var isLossless: Bool { defect == .loss }
    func encode(_ value: String) throws -> [UInt8] {
      if defect == .fails { throw CancellationError() }
      return Array((defect == .loss ? value.lowercased() : value).utf8)
    }
    func decode(_ bytes: Span<UInt8>) throws -> String {
      let text = String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
      return defect == .drift ? text + "x" : text
    }
  }

  @Test(arguments: [
    (Broken.Defect.id, "belong to Larder"), (.loss, "decoded as another value: red"),
    (.drift, "changes each time"), (.fails, "cannot be encoded"),
  ])
  private func `a defect of a codec is told`(_ defect: Broken.Defect, _ told: String) async throws {
    let failure = await #expect(throws: ConformanceFailure.self) {
      try await checkConformance(of: Broken(defect: defect), with: ["Red"], damages: 10)
    }
    #expect(
      failure?.problems.contains { $0.contains(told) } == true, "\(failure?.description ?? "")")
    #expect(failure?.subject == "Broken")
  }

  @Test func `the clocks of the library conform`() async throws {
    let clock = ManualClock()
    try await checkConformance(of: clock) { clock.advance(by: $0) }
    try await checkConformance(of: SystemClock())
  }

  private final class BrokenClock: LarderClock {
    enum Defect: CaseIterable { case goesBack, stands, wall, wakesEarly, ignoresCancellation }
    let defect: Defect
    private let base = ManualClock()
    private let reads = Atomic(0)
    init(_ defect: Defect) { self.defect = defect }
    var now: Timestamp { defect == .wall ? Timestamp(milliseconds: -5) : base.now }
    var monotonic: Duration {
      guard defect == .goesBack else { return base.monotonic }
      return .milliseconds(-reads.add(1, ordering: .relaxed).newValue)
    }
    func advance(by duration: Duration) { if defect != .stands { base.advance(by: duration) } }
    func sleep(until moment: Duration) async throws {
      switch defect {
      case .wakesEarly: try Task.checkCancellation()
      case .ignoresCancellation, .goesBack, .stands:
        // Moves the clock to the end of the sleep. Otherwise the check would wait for ever.
        if moment > base.monotonic { base.advance(by: moment - base.monotonic) }
      case .wall: try await base.sleep(until: moment)
      }
    }
  }

  @Test(arguments: [
    (BrokenClock.Defect.goesBack, "goes back"), (.stands, "does not follow"),
    (.wall, "the wall clock shows"),
    (.wakesEarly, "before its moment"), (.ignoresCancellation, "does not throw"),
  ])
  private func `a clock with a defect is told of it`(
    _ defect: BrokenClock.Defect, _ told: String
  ) async throws {
    let clock = BrokenClock(defect)
    // The check waits before it moves the clock. The check must report a sleep that ends already during this wait.
    let failure = await #expect(throws: ConformanceFailure.self) {
      try await checkConformance(of: clock) { clock.advance(by: $0) }
    }
    #expect(
      failure?.problems.contains { $0.contains(told) } == true, "\(failure?.description ?? "")")
  }

  @Test func `a temporary store is checked, closed and removed`() async throws {
    var path = ""
    try withTemporaryStore { store, clock in
      path = store.path
      try store.namespace("a").set("v", for: "k", expires: .after(.seconds(1)))
      clock.advance(by: .seconds(1))
      #expect(try !store.namespace("a").contains("k"))
    }
    #expect(!FileManager.default.fileExists(atPath: path))
    let number = try await withTemporaryStore { store, _ in
      try await store.namespace("n").set("v", for: "k")
      return try store.namespace("n").count()
    }
    #expect(number == 1)
    await #expect(throws: CancellationError.self) {
      try await withTemporaryStore { store, _ in
        try await store.namespace("n").set("v", for: "k")
        throw CancellationError()
      }
    }
  }
}
