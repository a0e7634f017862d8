import Larder
import Synchronization
import TestSupport
import Testing

@testable import LarderHTTP

struct PageWalkTests {
  private struct Page: Sendable, Equatable {
    var number: Int
    var version = "1"
    var next: String?
  }
  private struct InvalidCursor: Error {}

  private final class Service: Sendable {
    typealias State = (version: Int, asked: [String?])
    let state = Mutex<State>((1, []))
    let change: @Sendable (inout State) throws -> Void

    init(_ change: @escaping @Sendable (inout State) throws -> Void = { _ in }) {
      self.change = change
    }

    func page(_ cursor: String?) throws -> Page {
      try state.withLock { state in
        state.asked.append(cursor)
        try change(&state)
        let number = cursor.flatMap { Int($0) } ?? 0
        return Page(
          number: number, version: "\(state.version)", next: number < 4 ? "\(number + 1)" : nil)
      }
    }

    var walk: PageWalk<Page, String> {
      PageWalk(
        next: { $0.next }, version: { $0.version }, isInvalidCursor: { $0 is InvalidCursor },
        fetch: { [self] in try page($0) })
    }

    var asked: [String?] { state.withLock { $0.asked } }
  }

  @Test func `all pages come in order, each fetched once`() async throws {
    let service = Service()
    #expect(try await service.walk.all().map(\.number) == [0, 1, 2, 3, 4])
    #expect(service.asked == [nil, "1", "2", "3", "4"])
  }

  @Test func `the next page is fetched while one is used`() async throws {
    let service = Service()
    var pages = service.walk.makeAsyncIterator()
    for number in 0..<4 {
      #expect(try await pages.next()?.page.number == number)
      try await waitUntil { service.asked.count == number + 2 }
    }
    #expect(try await pages.next()?.index == 4)
    for _ in 0..<2 { #expect(try await pages.next() == nil) }
  }

  @Test func `a cursor that is unknown begins the walk again, once`() async throws {
    let service = Service { state in if state.asked.count == 4 { throw InvalidCursor() } }
    var indexes: [Int] = []
    for try await element in service.walk { indexes.append(element.index) }
    #expect(indexes == [0, 1, 2, 0, 1, 2, 3, 4])
    let broken = Service { state in if state.asked.last == "3" { throw InvalidCursor() } }
    await #expect(throws: InvalidCursor.self) { try await broken.walk.all() }
    #expect(broken.asked.count == 8)
  }

  @Test func `all pages are of one version`() async throws {
    let service = Service { state in if state.asked.count == 3 { state.version += 1 } }
    #expect(try await service.walk.all().map(\.version) == Array(repeating: "2", count: 5))
    #expect(service.asked.count == 8)
    let restless = Service { $0.version += 1 }
    await #expect(throws: LarderError.self) { try await restless.walk.all() }
    #expect(restless.asked.count <= 8)
  }

  @Test func `pages that lead in a circle are an error`() async throws {
    let walk = PageWalk<Int, Int>(next: { ($0 + 1) % 3 }, fetch: { $0 ?? 0 })
    let error = await #expect(throws: LarderError.self) { try await walk.all() }
    #expect(error?.code == .badCursor)
  }
}
