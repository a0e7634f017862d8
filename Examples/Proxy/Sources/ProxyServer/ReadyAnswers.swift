import HTTPTypes
import LarderHTTP
import NIOCore
import Synchronization

/// The answers that one event loop can give without the task of a connection.
final class ReadyAnswers {
  /// An answer with its head as sent. The head changes each second.
  private final class Ready {
    let answer: ReadyAnswer
    let request: HTTPRequest
    var age: Int
    var head: [UInt8]

    /// An estimate of the bytes in memory; too high rather than too low, because each field takes further memory.
    let cost: Int

    init(_ answer: ReadyAnswer, to request: HTTPRequest, age: Int, head: [UInt8]) {
      self.answer = answer
      self.request = request
      self.age = age
      self.head = head
      let fieldCount = head.count { $0 == 0x0A } + request.headerFields.count
      cost = 4 * head.count + 200 * fieldCount + 1_000
    }
  }

  /// With these limits, all answers of an event loop take a few MB.
  private static let most = 1_000
  private static let largestCost = 4_000_000
  private static let longestHead = 4_096
  private static let longestTarget = 1_024

  private var byTarget: [String: Ready] = [:]
  private var cost = 0
  /// Answers that depend on further fields, by the whole heads of their requests: clients repeat the heads byte for byte.
  private var byHead: [String: Ready] = [:]
  private var recognizer: PlainRequests?
  /// The number of answers that were given.
  private(set) var count = 0
  var turn = LoopTurn()

  /// The answer to the request in `bytes`, with its head; nil if the cache must be asked.
  func answer(to bytes: Span<UInt8>) -> (ReadyAnswer, head: [UInt8])? {
    guard let recognizer, let range = recognizer.target(of: bytes) else { return nil }
    let target = bytes.extracting(range).text
    if let ready = byTarget[target] {
      if isCurrent(ready) { return (ready.answer, ready.head) }
      set(nil, for: target, in: \.byTarget)
      return nil
    }
    guard !byHead.isEmpty, bytes.count <= MessageHead.longestKept else { return nil }
    let head = bytes.text
    guard let ready = byHead[head] else { return nil }
    if isCurrent(ready) { return (ready.answer, ready.head) }
    set(nil, for: head, in: \.byHead)
    return nil
  }

  private func isCurrent(_ ready: Ready) -> Bool {
    guard let age = ready.answer.age else { return false }
    if age != ready.age {
      guard let head = Self.head(of: ready.answer, to: ready.request) else { return false }
      (ready.age, ready.head) = (age, head)
    }
    count += 1
    return true
  }

  /// Keeps the answer to a hit ready for the next equal plain request.
  ///
  /// - Parameter head: the head of the request as received.
  func keep(_ request: HTTPRequest, _ head: [UInt8], from cache: HTTPCache) {
    guard let target = request.path, target.utf8.count <= Self.longestTarget else { return }
    let recognizer = recognizer ?? PlainRequests(besides: cache.rules.decisiveFields)
    self.recognizer = recognizer
    // A request that is not plain gets no ready answer. The test is first, so for such a request the call takes little time.
    guard recognizer.target(of: head.span) != nil else { return }
    if byTarget.count + byHead.count >= Self.most || cost > Self.largestCost {
      (byTarget, byHead, cost) = ([:], [:], 0)
    }
    var plain = request
    plain.headerFields = HTTPFields()
    if let answer = cache.readyAnswer(to: plain), !answer.isVaried {
      set(Self.ready(answer, to: plain), for: target, in: \.byTarget)
    } else if let answer = cache.readyAnswer(to: request) {
      set(Self.ready(answer, to: request), for: head.span.text, in: \.byHead)
    }
  }

  private func set(
    _ ready: Ready?, for key: String,
    in answers: ReferenceWritableKeyPath<ReadyAnswers, [String: Ready]>
  ) {
    cost += (ready?.cost ?? 0) - (self[keyPath: answers][key]?.cost ?? 0)
    self[keyPath: answers][key] = ready
  }

  private static func ready(_ answer: ReadyAnswer, to request: HTTPRequest) -> Ready? {
    guard let age = answer.age, let head = head(of: answer, to: request),
      head.count <= longestHead
    else { return nil }
    return Ready(answer, to: request, age: age, head: head)
  }

  /// The head of an answer; nil if the request needs another answer, or if the answer has no body (204 or 304).
  private static func head(of answer: ReadyAnswer, to request: HTTPRequest) -> [UInt8]? {
    guard let result = answer.result(to: request) else { return nil }
    var status = CacheStatus(result)
    status.append(to: &status.response.headerFields)
    var response = status.response
    response.headerFields = response.headerFields.endToEnd
    guard ![204, 304].contains(response.status.code) else { return nil }
    if Framing(of: response, to: .get) != .length(answer.bodySize) {
      response.headerFields[.contentLength] = String(answer.bodySize)
    }
    return response.encodedHead
  }
}

extension Span<UInt8> {
  fileprivate var text: String {
    unsafe withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
  }
}

/// The ready answers of each event loop.
final class ReadyAnswersByLoop: Sendable {
  private let all = Mutex<[ObjectIdentifier: NIOLoopBound<ReadyAnswers>]>([:])

  /// The number of given answers.
  func count() async throws -> Int { try await sum { $0.count } }

  /// How often the event loops have yielded to other threads.
  func turns() async throws -> Int { try await sum { $0.turn.count } }

  private func sum(_ number: @escaping @Sendable (ReadyAnswers) -> Int) async throws -> Int {
    var sum = 0
    for answers in all.withLock({ Array($0.values) }) {
      sum += try await answers.eventLoop.submit { number(answers.value) }.get()
    }
    return sum
  }

  /// The ready answers of an event loop. Call it on that loop.
  func answers(on loop: any EventLoop) -> ReadyAnswers {
    all.withLock { all in
      if let answers = all[ObjectIdentifier(loop)] { return answers }
      let answers = NIOLoopBound(ReadyAnswers(), eventLoop: loop)
      all[ObjectIdentifier(loop)] = answers
      return answers
    }.value
  }
}
