#if HTTP
  public import Larder

  /// The data of one user of a service, separate from the data of other users.
  ///
  ///     let realm = store.realm(of: token)
  ///     let boards = realm.cache(of: Board.self, in: "boards")
  ///     try realm.clear()
  ///
  /// A realm has its own namespaces. Their names end with a keyed digest of the user's secret (``Secrets/digest(_:in:)``) and
  /// do not reveal the secret. Two users never see each other's data, in any process.
  public struct Realm: Sendable {
    /// The store that holds the data.
    public let store: Store
    fileprivate let suffix: String

    /// The name that this realm's namespace `name` has in the store: `name` (at most 67 bytes), a dot, and the digest.
    public func name(of name: String) -> String { name + suffix }

    /// This realm's namespace `name`.
    public func namespace(_ name: String) -> Store.Namespace {
      store.namespace(self.name(of: name))
    }

    /// A cache over this realm's namespace `name`; see `Store/cache(of:in:rules:memory:cost:)`.
    public func cache<Value: Codable & Sendable>(
      of type: Value.Type, in name: String, rules: Rules? = nil, memory: MemoryLimits? = nil
    ) -> Cache<Value> {
      store.cache(of: type, in: self.name(of: name), rules: rules, memory: memory)
    }

    /// Removes all data of the realm in one commit, for example at a logout. Afterwards no process finds any of the data. A
    /// load that began before the call stores no value.
    ///
    /// Loads under way in other namespaces return their values, and store no value either. The realm keeps its empty namespaces.
    @discardableResult
    public func clear() throws(LarderError) -> RemovalResult {
      // The bytes are compared, because the dot can be in one `Character` with the end of the name before it.
      try store.clear { $0.utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) }
    }
  }

  extension Store {
    /// The realm of a secret, such as a token or the name of a user. The store has only a keyed digest of the secret.
    ///
    /// If a store has data of several services, the secret must name the service, too.
    public func realm(of secret: String) -> Realm {
      Realm(store: self, suffix: "." + Secrets.digest("realm\n\n" + secret, in: self))
    }
  }
#endif
