import TestSupport
import Testing

@testable import Larder

@Suite struct BufferModelTests {
  /// The number of states that the model can reach from `start`. Nil if a lookup finds a wrong value.
  private func walk(_ start: BufferModel, _ fault: BufferModel.Fault? = nil) -> Int? {
    // The set has only the hashes of the states, because the states of a long run would need a gigabyte.
    var known: Set<Int> = [start.hashValue]
    var waiting = [start]
    while let model = waiting.popLast() {
      guard let next = model.successors(fault) else { return nil }
      for model in next where known.insert(model.hashValue).inserted { waiting.append(model) }
    }
    return known.count
  }

  @Test func `no order of the steps shows a lost, an old or an unwritten value`() throws {
    // The model has 249,542 states with one commit and 5,560,659 with two commits. So only long runs use two commits.
    let commits: UInt8 = TestSettings.trials > 1 ? 2 : 1
    #expect(try #require(walk(BufferModel(appends: 2, commits: commits))) > 200_000)
  }

  @Test(arguments: BufferModel.Fault.allCases)
  func `the walk finds each fault of the protocol`(fault: BufferModel.Fault) {
    #expect(walk(BufferModel(appends: 2, commits: 2), fault) == nil)
  }
}

/// A model of the write buffer for one key. `Docs/Internals/WriteBuffer.md` describes the steps. A writer, transactions and a
/// slow reader take single steps in any order. At most one process is killed. Between any two steps, fast readers look up the
/// key. A record takes one word of its log. A log may also have records of other keys, which take no word.
///
/// Each write of the key has an even number, which is higher than the numbers of earlier writes. The value is this number. If a
/// commit evicts the key, the value becomes the next odd number.
struct BufferModel: Hashable {
  /// A deliberate fault of the protocol. A walk through all orders of the steps must find the fault.
  enum Fault: CaseIterable {
    case readerDoesNotLookAgain, readerAsksOlderFirst, frozenRecordsCount
    case olderRecordsCountAfterCommit, writerDoesNotLookAgain, killedAppendStaysHidden
    case killedAppendIsReplaced, turnsOverOlder, freezesWithoutMerge, commitsTwice
    case tailStays, tailStaysInTurn, emptiesOlderTable, memoryAfterTheState
  }

  enum Process: UInt8 { case writer, transaction }

  struct Lookup: Hashable {
    enum Step: UInt8 { case state, snapshot, find, copy, check, done }
    var step = Step.state
    var state = BufferState.first
    var snapshot: UInt8 = 0
    var place: UInt8 = 0
    var value: UInt8 = 0
  }

  struct Writer: Hashable {
    enum Step: UInt8 { case state, lookup, lock, record, tail, slot, end }
    var step = Step.state
    var state = BufferState.first
    var snapshot: UInt8 = 0
    var value: UInt8 = 0
  }

  struct Transaction: Hashable {
    enum Step: UInt8 {
      case begin, turnTail, turnState, freeze, commit, publish, end
      case mergeBase, mergeState, nextTail, nextBase, nextState
    }

    var step = Step.begin
    /// The value of the newest record that the transaction has stored; 0 if there is no such record.
    var stored: UInt8 = 0
    /// Whether LMDB has ended the transaction.
    var isEnding = false
  }

  // The words of the buffer file.
  var state = BufferState.first
  var tail: UInt8 = 0
  var olderEnd: UInt8 = 0
  var bases = SIMD2<UInt8>(1, 1)
  /// The place of the key in each table: 16 times the generation, plus the offset of the record.
  var slots = SIMD2<UInt8>()
  /// For each record of both logs, its value, and the generation in which it was written.
  var values = SIMD4<UInt8>()
  var seals = SIMD4<UInt8>()
  var lock: Process?

  // The newest commit in the data file, and the newest commit that LMDB has published, so that readers see it.
  var commit: UInt8 = 1
  var data: UInt8 = 0
  var published: UInt8 = 1
  var publishedData: UInt8 = 0
  var writer = Writer()
  var transaction = Transaction()
  var reader = Lookup()
  /// The number of the next write.
  var next: UInt8 = 2
  /// The newest value that a program may know, because a lookup has found it or a write has returned.
  var shown: UInt8 = 0
  /// The value of ``shown`` at the moment when the lookup of the slow reader began.
  var least: UInt8 = 0

  // The numbers of steps of each kind that may still happen.
  var appends: UInt8
  var commits: UInt8
  var kills: UInt8 = 1
}

extension BufferState: Hashable { func hash(into hasher: inout Hasher) { hasher.combine(word) } }
