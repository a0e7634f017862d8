import Dispatch

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Signals that ask the process to end, which they do not do by themselves from now on.
struct Interruptions {
  /// One element for each signal.
  let signals: AsyncStream<Void>
  private let sources: [any DispatchSourceSignal]

  init(by numbers: [Int32] = [SIGINT, SIGTERM]) {
    let (signals, continuation) = AsyncStream<Void>.makeStream()
    self.signals = signals
    sources = numbers.map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { continuation.yield() }
      source.resume()
      return source
    }
  }

  /// Listens no more.
  func cancel() { for source in sources { source.cancel() } }
}
