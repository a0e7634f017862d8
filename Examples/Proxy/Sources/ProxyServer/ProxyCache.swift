import HTTPTypes
public import Larder
public import LarderHTTP
import Synchronization

/// The cache of a proxy, over a store that is opened again after a failure, such as a removal of its directory.
///
/// While the store cannot be opened, GET and HEAD without a body go to the origin without the store.
public final class ProxyCache: Sendable {
  private struct State {
    var store: Store
    var cache: HTTPCache
    /// When the store was last opened after a failure, by the monotonic clock.
    var reopened: Duration?
    var isClosed = false
  }

  private let namespace: String
  let transport: any HTTPTransport
  private let policy: HTTPCachePolicy
  private let open: @Sendable () throws -> Store
  private let log: @Sendable (String) -> Void
  let clock: any LarderClock
  private let state: Mutex<State?> = Mutex(nil)

  /// Opens the store.
  ///
  /// - Parameters:
  ///   - transport: sends requests to the origin.
  ///   - log: receives a line for each failure and each new opening of the store.
  ///   - open: opens the store, first now and again after each failure of the store.
  public init(
    in namespace: String = "http", over transport: any HTTPTransport,
    policy: HTTPCachePolicy = HTTPCachePolicy(),
    log: @escaping @Sendable (String) -> Void = { _ in },
    open: @escaping @Sendable () throws -> Store
  ) throws {
    self.namespace = namespace
    self.transport = transport
    self.policy = policy
    self.open = open
    self.log = { log($0.logged) }
    let store = try open()
    clock = store.clock
    let cache = self.cache(over: store)
    state.withLock { $0 = State(store: store, cache: cache) }
  }

  private func cache(over store: Store) -> HTTPCache {
    HTTPCache(in: store.namespace(namespace), over: transport, policy: policy) { [weak self] in
      self?.recover(from: $0)
    }
  }

  /// The current cache.
  public var cache: HTTPCache {
    guard let state = state.withLock({ $0 }) else {
      preconditionFailure("the store is opened by the initializer")
    }
    return state.cache
  }

  /// Closes the store. After this call the store is not opened again, even if a response arrives later.
  public func close() throws {
    try state.withLock { state in
      state?.isClosed = true
      try state?.store.close()
    }
  }

  /// Works like ``LarderHTTP/HTTPCache/send(_:body:tags:interim:)``, but GET and HEAD are also answered if the store fails.
  func send(
    _ request: HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> HTTPCacheResult {
    do {
      return try await cache.send(request, body: body, interim: interim)
    } catch let error as LarderError {
      recover(from: error)
      guard request.method == .get || request.method == .head, body.count == 0 else { throw error }
    }
    do {
      return try await cache.send(request, interim: interim)
    } catch let error as LarderError {
      log("answered without the store: \(error)")
      return try await cache.pass(request, interim: interim)
    }
  }

  /// Whether a response to `request` is stored, whatever its age.
  func hasStored(for request: HTTPRequest) -> Bool {
    do {
      return try cache.peek(request) != nil
    } catch {
      recover(from: error)
      return false
    }
  }

  /// Opens the store again if this may remove the cause of the error, but at most once a second.
  private func recover(from error: any Error) {
    guard let error = error as? LarderError else {
      log("background refresh failed: \(error)")
      return
    }
    log("the store failed: \(error)")
    guard [.failed, .damaged, .closed, .notFound].contains(error.code) else { return }
    state.withLock { state in
      if state?.isClosed == true { return }
      let now = clock.monotonic
      if let last = state?.reopened, now < last + .seconds(1) { return }
      state?.reopened = now
      do {
        try state?.store.close()
      } catch {
        log("closing the store failed: \(error)")
      }
      do {
        let store = try open()
        state?.store = store
        state?.cache = self.cache(over: store)
        log("the store was opened again")
      } catch {
        log("the store cannot be opened: \(error)")
      }
    }
  }
}
