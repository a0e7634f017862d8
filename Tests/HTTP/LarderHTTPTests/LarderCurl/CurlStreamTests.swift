#if Curl && HTTPTesting
  import HTTPTypes
  import LarderHTTP
  import LarderHTTPTesting
  import Synchronization
  import TestSupport
  import Testing

  @testable import LarderCurl

  /// Tests with bodies that arrive slowly, readers that stop, and many simultaneous requests.
  @Suite struct CurlStreamTests {
    private static let start = "HTTP/1.1 200 OK\r\nContent-Length: "

    @Test func `a reader that is woken for what it has read already waits again`() async throws {
      let transfer = Transfer()
      let reading = Task { try await transfer.next() }
      for _ in 0..<1000 { await Task.yield() }
      // Wakes the reader without new bytes. The reader must then wait again.
      #expect(transfer.receive(body: []))
      for _ in 0..<1000 { await Task.yield() }
      #expect(transfer.receive(body: [1]))
      guard case .piece([1]) = try await reading.value else {
        return #expect(Bool(false), "it took the wake for the end")
      }
      transfer.finish(.success(()))
      #expect(try await transfer.next() == nil)
    }

    private static func stream(
      to connection: RawServer.Connection, counting sent: borrowing Mutex<Int>
    ) async throws {
      let piece = String(repeating: "0123456789", count: 1_000)
      try await connection.send(start + "20000000\r\n\r\n")
      for _ in 0..<2_000 {
        try await connection.send(piece)
        sent.withLock { $0 += piece.utf8.count }
      }
    }

    @Test func `a slow reader takes a bounded part of the memory`() async throws {
      let sent = Mutex(0)
      try await RawServer.run { connection in
        _ = await connection.head()
        try await Self.stream(to: connection, counting: sent)
      } _: { authority in
        let (_, body) = try await CurlTransport().send(to: authority)
        // Waits until the server has sent more bytes than the transport holds.
        try await waitUntil { sent.withLock { $0 } > 300_000 }
        var count = 0
        for try await piece in body {
          #expect(piece.count < 300_000 && piece.first == UInt8(ascii: "0") + UInt8(count % 10))
          count += piece.count
        }
        #expect(count == 20_000_000)
      }
    }

    @Test(arguments: [true, false])
    func `a body that nobody reads ends its connection`(isFull: Bool) async throws {
      let sent = Mutex(0)
      let ended = Mutex(false)
      try await RawServer.run { connection in
        _ = await connection.head()
        if isFull {
          // Sending fails when the client closes the connection early, so the test ignores the error.
          try? await Self.stream(to: connection, counting: sent)
        } else {
          try await connection.send(Self.start + "8\r\n\r\nbegi")
          await connection.waitForEnd()
        }
        ended.withLock { $0 = true }
      } _: { authority in
        var response: (HTTPResponse, HTTPBody)? = try await CurlTransport().send(to: authority)
        if isFull { try await waitUntil { sent.withLock { $0 } > 300_000 } }
        #expect(response != nil && !ended.withLock { $0 })
        response = nil
        try await waitUntil { ended.withLock { $0 } }
      }
    }

    @Test(arguments: [true, false])
    func `a cancelled caller waits no longer, and its connection ends`(hasHead: Bool) async throws {
      let asked = Mutex(false)
      let ended = Mutex(false)
      try await RawServer.run { connection in
        _ = await connection.head()
        if hasHead { try await connection.send(Self.start + "8\r\n\r\nbegi") }
        asked.withLock { $0 = true }
        await connection.waitForEnd()
        ended.withLock { $0 = true }
      } _: { authority in
        let asking = Task { try await CurlTransport().send(to: authority).1.bytes() }
        try await waitUntil { asked.withLock { $0 } }
        #expect(!ended.withLock { $0 })
        asking.cancel()
        await #expect(throws: CancellationError.self) { try await asking.value }
        try await waitUntil { ended.withLock { $0 } }
      }
    }

    @Test func `cancellation at any moment gives an answer or an error`() async throws {
      let answer = Array((Self.start + "4\r\n\r\nbody").utf8)
      let transport = CurlTransport()
      try await RawServer.run(answer: answer) { authority in
        for turns in 0..<100 {
          let asking = Task { try await transport.send(to: authority).1.bytes() }
          for _ in 0..<turns * 10 { await Task.yield() }
          asking.cancel()
          switch await asking.result {
          case .success(let bytes): #expect(bytes == Array("body".utf8))
          case .failure(let error): #expect(error is CancellationError)
          }
        }
        let (_, body) = try await transport.send(to: authority)
        #expect(try await body.bytes().count == 4)
      }
    }

    @Test func `of a hundred requests 64 are under way at once, and others wait`() async throws {
      let count = 100
      let waiting = Atomic(0)
      let most = Mutex(0)
      let gate = Gate()
      try await RawServer.run { connection in
        guard let head = await connection.head() else { return }
        let now = waiting.add(1, ordering: .relaxed).newValue
        most.withLock { $0 = max($0, now) }
        await gate.wait()
        waiting.subtract(1, ordering: .relaxed)
        let path = head.split(separator: " ")[1]
        try await connection.send(Self.start + "\(path.utf8.count)\r\n\r\n\(path)")
      } _: { authority in
        let transport = CurlTransport()
        try await withThrowingTaskGroup { group in
          for number in 0..<count {
            group.addTask {
              let (_, body) = try await transport.send(path: "/\(number)", to: authority)
              return try await body.bytes() == Array("/\(number)".utf8)
            }
          }
          try await waitUntil { waiting.load(ordering: .relaxed) >= 64 }
          // A cancelled request must stop waiting immediately and must not take a connection from another request.
          let waiter = Task { try await transport.send(to: authority) }
          for _ in 0..<1000 { await Task.yield() }
          waiter.cancel()
          await #expect(throws: CancellationError.self) { _ = try await waiter.value }
          await gate.open()
          for try await isRight in group { #expect(isRight) }
        }
        #expect(most.withLock { $0 } == 64)
      }
    }
  }
#endif
