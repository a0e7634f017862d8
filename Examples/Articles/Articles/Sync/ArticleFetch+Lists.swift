extension ArticleFetch {
  /// What the service says to `ask` for the user.
  ///
  /// The cache stores it before it can be read, and knows nothing of a user who leaves in another process. So if the user has
  /// left by then, it is forgotten again, whatever came, and ``ArticlesError/signedOut`` is thrown.
  func listed<List: Sendable>(_ ask: (Readeck) async throws -> List) async throws -> List {
    let outcome: Result<List, any Error>
    do {
      outcome = .success(try await ask(readeck))
    } catch {
      outcome = .failure(error)
    }
    guard try shelf.isHere(user) else {
      try await readeck.forget()
      throw ArticlesError.signedOut
    }
    return try outcome.get()
  }
}
