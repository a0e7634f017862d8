import TestSupport
import Testing

@Suite struct BufferModelTests {
  /// The number of states; nil if one of them has a read with a wrong value.
  private func walk(_ start: BufferModel, _ fault: BufferModel.Fault? = nil) -> Int? {
    var known: Set<BufferModel> = [start]
    var waiting = [start]
    while let model = waiting.popLast() {
      guard let next = model.successors(fault) else { return nil }
      for model in next where known.insert(model).inserted { waiting.append(model) }
    }
    return known.count
  }

  @Test func `no order of the steps shows a lost, an old or an unwritten value`() throws {
    // 67,420 states; in trials 552,070.
    let commits: UInt8 = TestSettings.trials > 1 ? 2 : 1
    let states = try #require(walk(BufferModel(appends: 2, commits: commits, reads: 2)))
    print("model: \(states) states")
    #expect(states > 60_000)
  }

  @Test(arguments: BufferModel.Fault.allCases)
  func `the walk finds each fault of the protocol`(fault: BufferModel.Fault) {
    #expect(walk(BufferModel(appends: 2, commits: 1, reads: 2), fault) == nil)
  }
}
