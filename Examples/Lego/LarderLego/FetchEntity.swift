import ArgumentParser
import ExampleProgram
import Larder
import LegoCache
import Service

struct FetchEntity: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch",
    abstract: "Gets entities from the store, or from the service if they are not there or too old.",
    discussion: """
      What was fetched is kept, so that a second call asks nobody. Where the service cannot be reached, one that is too \
      old is shown and said to be so. The key -1 looks like an option: put -- before it.
      """)

  @Argument(help: "One of \(EntityKind.allCases.map(\.singular).joined(separator: ", ")).")
  var kind: KindName

  @Argument(
    help: "Numbers as the maker writes them: 3001, 10294-1, fig-000018; of a partcolor 3001/4.")
  var keys: [String]

  @OptionGroup var options: ServiceOptions

  @Flag(help: "Ask the service even if the store has it.")
  var reload = false

  @Flag(help: "Print a line of JSON for each, with where it came from.")
  var json = false

  func run() async throws {
    let (client, requests) = try options.client()
    switch kind.kind {
    case .colors: try await fetch(Color.self, client, requests)
    case .themes: try await fetch(Theme.self, client, requests)
    case .categories: try await fetch(PartCategory.self, client, requests)
    case .parts: try await fetch(Part.self, client, requests)
    case .sets: try await fetch(ModelSet.self, client, requests)
    case .elements: try await fetch(Element.self, client, requests)
    case .partColors: try await fetch(PartColor.self, client, requests)
    }
    try client.manager.cache?.larder.close()
  }

  private func fetch<Entity: LegoEntity>(
    _ type: Entity.Type, _ client: LegoClient, _ requests: CountedTransport
  ) async throws {
    let progress = keys.count > 1 ? ProgressLine.ifWatched : nil
    var found: [(key: String, loaded: CacheResult<Entity>)] = []
    do {
      defer { progress?.clear() }
      for (place, key) in keys.enumerated() {
        progress?.advance(kind.kind.word, done: place, of: keys.count)
        let policy = reload ? RequestPolicy.reload : .standard
        guard let loaded = try await client.entity(type, key: key, policy: policy) else {
          throw Failure(
            .noSuchKey, "there is no \(kind.kind.singular) \(key)",
            hint: options.answers.offline
              ? "the recording has only a few; without --offline all are there" : nil)
        }
        found.append((key, loaded))
      }
    }
    for (key, loaded) in found {
      let shown = Shown(
        kind: kind.kind.singular, key: key, source: loaded.source,
        age: loaded.age / .seconds(1), error: loaded.error.map { "\($0)" }, entity: loaded.value)
      print(try json ? JSONOutput.text(shown) : JSONOutput.text(shown.entity, pretty: true))
      if !json { print(shown.remark) }
    }
    if json { return }
    let word = requests.count == 1 ? "request" : "requests"
    print("\(requests.count) \(word) to the service")
    if let cache = client.manager.cache { print("\n" + closing(cache.realm, requests).text) }
  }

  private func closing(_ realm: Realm, _ requests: CountedTransport) -> Closing {
    let name = realm.name(kind.kind.namespace)
    return Closing(
      store: options.store,
      commands: keys.prefix(1).map { "get @\(name) \($0.shellWord)" } + [
        "info @\(name) \(keys[0].shellWord)", "keys @\(name) --limit 5", "stats @\(name)",
      ])
  }
}

/// An entity and where it came from.
private struct Shown<Entity: LegoEntity>: Encodable {
  var kind: String
  var key: String
  var source: CacheResult<Entity>.Source
  /// In seconds.
  var age: Double
  var error: String?
  var entity: Entity

  var remark: String {
    let old = age < 120 ? "\(Int(age)) s" : "\(Int(age / 60)) minutes"
    switch source {
    case .loaded: return "\(kind) \(key): from the service"
    case .memory: return "\(kind) \(key): from memory, \(old) old"
    case .disk: return "\(kind) \(key): from the store, \(old) old"
    case .stale:
      return "\(kind) \(key): too old (\(old)), but " + (error ?? "nothing newer was to be had")
    }
  }
}
